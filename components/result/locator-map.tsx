import { geoNaturalEarth1, geoPath } from 'd3-geo';
import { feature } from 'topojson-client';
import type { Topology } from 'topojson-specification';
import land from 'world-atlas/land-110m.json';

export interface LocatorMapProps {
  latitude: number;
  longitude: number;
  /** Its alternative text. */
  label: string;
}

/** The world with one mark. Drawn from what came with the page; works offline. */
export function LocatorMap({ latitude, longitude, label }: LocatorMapProps) {
  const [x, y] = placeOnMap(latitude, longitude);
  return (
    <svg
      viewBox={`0 0 ${MAP_WIDTH} ${MAP_HEIGHT}`}
      className="size-full"
      role="img"
      aria-label={label}
    >
      <path d={landPath} className="fill-linestrong opacity-60" />
      <path d={`M${x} 0V${MAP_HEIGHT}M0 ${y}H${MAP_WIDTH}`} className="stroke-error/40" />
      <circle cx={x} cy={y} r={7} className="fill-error/25" />
      <circle cx={x} cy={y} r={3} className="fill-error stroke-bg" />
    </svg>
  );
}

const MAP_WIDTH = 240;
const MAP_HEIGHT = 120;

// A JSON file carries no literal types; this is the edge where it gets its own.
const topology = land as unknown as Topology;

const projection = geoNaturalEarth1().fitExtent(
  [
    [4, 2],
    [MAP_WIDTH - 4, MAP_HEIGHT - 2],
  ],
  { type: 'Sphere' },
);

const outline = topology.objects.land;

/** The world's land as one SVG path. */
const landPath: string = outline ? (geoPath(projection)(feature(topology, outline)) ?? '') : '';

/** Where a position lies on the map. */
const placeOnMap = (latitude: number, longitude: number): readonly [number, number] =>
  projection([longitude, latitude]) ?? [MAP_WIDTH / 2, MAP_HEIGHT / 2];
