import type { Reading, SensorName } from '../device-parts.ts';

interface GenericSensor extends EventTarget {
  readonly x?: number | null;
  readonly y?: number | null;
  readonly z?: number | null;
  readonly illuminance?: number | null;
  start(): void;
  stop(): void;
}
type SensorClass = new (options: { frequency: number }) => GenericSensor;

const HERTZ = 10;
/** Classes of the Generic Sensor API. */
const CLASS_OF = { magnetometer: 'Magnetometer', light: 'AmbientLightSensor' } as const;
const EVENT_OF = { motion: 'devicemotion', orientation: 'deviceorientation' } as const;

/** Null in a browser that has no interface to any sensor. */
export function createSensors() {
  const names: SensorName[] = [];
  if ('DeviceMotionEvent' in window) names.push('motion');
  if ('DeviceOrientationEvent' in window) names.push('orientation');
  for (const name of ['magnetometer', 'light'] as const)
    if (CLASS_OF[name] in window) names.push(name);
  if (names.length === 0) return null;
  // Safari reports none, and is found out before any call: it forgets a tap meanwhile.
  const isReported = accelerometer().then((state) => state !== undefined);
  return {
    /** This browser has their interface; the device may lack them all the same. */
    names: names as readonly SensorName[],
    /** True where the person has to be asked, which a browser does inside a click. */
    needsTouch: async (name: SensorName) => {
      if (askFor(name) === undefined) return false;
      return !(await isReported) || (await accelerometer()) !== 'granted';
    },
    /** Inside a click. */
    ask: async (name: SensorName) => (await askFor(name)?.()) ?? 'granted',
    /** Returns the function that ends it. */
    watch: (
      name: SensorName,
      onReading: (reading: Reading) => void,
      onError: (reason: Error) => void,
    ) =>
      name === 'motion' || name === 'orientation'
        ? watchEvents(name, onReading)
        : watchGeneric(name, onReading, onError),
  };
}

type AskPermission = () => Promise<'granted' | 'denied'>;

/** Browsers that may ask for these two have a function for it: Safari on phones does, in a click. */
function askFor(name: SensorName): AskPermission | undefined {
  if (name !== 'motion' && name !== 'orientation') return undefined;
  const type = name === 'motion' ? 'DeviceMotionEvent' : 'DeviceOrientationEvent';
  const { requestPermission } = Reflect.get(window, type) as { requestPermission?: AskPermission };
  return requestPermission && (() => requestPermission());
}

/** Chromium has the function, too, and seldom asks; Safari does not report it. */
async function accelerometer(): Promise<PermissionState | undefined> {
  try {
    return (await navigator.permissions.query({ name: 'accelerometer' as PermissionName })).state;
  } catch {
    return undefined; // A browser rejects the names that it does not support.
  }
}

function watchEvents(name: 'motion' | 'orientation', onReading: (reading: Reading) => void) {
  const onEvent = (event: Event) => {
    const reading =
      name === 'motion'
        ? motionReading(event as DeviceMotionEvent)
        : orientationReading(event as DeviceOrientationEvent);
    // A browser without the sensor sends one event with nothing in it.
    if (Object.keys(reading).length > 0) onReading(reading);
  };
  window.addEventListener(EVENT_OF[name], onEvent);
  return () => window.removeEventListener(EVENT_OF[name], onEvent);
}

const motionReading = (event: DeviceMotionEvent): Reading => ({
  ...numbers('acceleration', event.acceleration),
  ...numbers('gravity', event.accelerationIncludingGravity),
  ...numbers('rotation', event.rotationRate),
});

function orientationReading(event: DeviceOrientationEvent): Reading {
  const { alpha, beta, gamma, absolute } = event;
  const compass: unknown = Reflect.get(event, 'webkitCompassHeading');
  const angles = { ...filled({ alpha, beta, gamma }), ...filled({ compass_heading: compass }) };
  return Object.keys(angles).length === 0 ? {} : { ...angles, absolute };
}

const AXES = ['x', 'y', 'z', 'alpha', 'beta', 'gamma'];

const numbers = (prefix: string, given: object | null): Record<string, number> =>
  given === null
    ? {}
    : filled(
        Object.fromEntries(AXES.map((axis) => [`${prefix}_${axis}`, Reflect.get(given, axis)])),
      );

/** The numbers alone, to a thousandth. */
function filled(values: Readonly<Record<string, unknown>>): Record<string, number> {
  const kept: Record<string, number> = {};
  for (const [name, value] of Object.entries(values))
    if (typeof value === 'number') kept[name] = Math.round(value * 1_000) / 1_000;
  return kept;
}

function watchGeneric(
  name: 'magnetometer' | 'light',
  onReading: (reading: Reading) => void,
  onError: (reason: Error) => void,
): () => void {
  const Sensor = Reflect.get(window, CLASS_OF[name]) as SensorClass;
  const sensor = new Sensor({ frequency: HERTZ });
  sensor.addEventListener('reading', () => {
    const { x, y, z, illuminance } = sensor;
    onReading(filled({ x, y, z, illuminance_lux: illuminance }));
  });
  sensor.addEventListener('error', (event) => {
    const reason: unknown = Reflect.get(event, 'error');
    onError(reason instanceof Error ? reason : new Error('the sensor stopped'));
  });
  sensor.start();
  return () => sensor.stop();
}
