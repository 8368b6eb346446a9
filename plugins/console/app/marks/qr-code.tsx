// A text as a QR code, for a telephone or a scanner held to the page; the text itself is beside it.
import { encodeQR } from 'qr';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';

export type QrCodeProps = {
  readonly text: string;
  /** `EST URL` */
  readonly what: string;
};

/** Light squares around the code (ISO/IEC 18004, 6.3.8). */
const quietZone = 4;

/** Dark on light in both themes: not every scanner reads the reverse. */
export function QrCode({ text, what }: QrCodeProps): ComponentChildren {
  const squares = useMemo(() => encodeQR(text, 'raw', { ecc: 'medium', border: quietZone }), [text]);
  const size = squares.length;
  const dark = squares.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={`QR code of the ${what}`} shape-rendering="crispEdges">
      <rect width={size} height={size} />
      <path d={dark} />
    </svg>
  );
}
