import { geoNaturalEarth1, geoPath } from 'd3-geo';
import { feature } from 'topojson-client';
import type { Topology } from 'topojson-specification';
import land from 'world-atlas/land-110m.json';

export const MAP_WIDTH = 240;
export const MAP_HEIGHT = 120;

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
export const landPath: string = outline
  ? (geoPath(projection)(feature(topology, outline)) ?? '')
  : '';

/** Where a position lies on the map. */
export const placeOnMap = (latitude: number, longitude: number): readonly [number, number] =>
  projection([longitude, latitude]) ?? [MAP_WIDTH / 2, MAP_HEIGHT / 2];
