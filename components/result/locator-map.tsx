import { landPath, MAP_HEIGHT, MAP_WIDTH, placeOnMap } from './land-outline.ts';

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
