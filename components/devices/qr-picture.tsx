'use client';

import encodeQR from 'qr';
import { useMemo } from 'react';

/** Light around it, in modules: scanners need four. */
const QUIET = 4;

/** A QR code of `text`, black on white in both themes: scanners do not read it the other way round. */
export function QrPicture({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => drawQr(text), [text]);
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="aspect-square w-full max-w-60 rounded-lg"
      data-testid="qr"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}

/** One path of unit squares; a picture of 29 by 29 has about 400. */
function drawQr(text: string): { size: number; path: string } {
  const rows = encodeQR(text, 'raw', { border: QUIET });
  const squares = rows.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return { size: rows.length, path: squares.join('') };
}
