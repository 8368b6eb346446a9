// Progress of long work.
import type { ComponentChildren } from 'preact';
import { locale } from '../language/language.ts';

/** `total` 0: it is not known yet. */
export type ProgressProps = { readonly label: string; readonly done: number; readonly total: number; readonly children: ComponentChildren };

export function Progress({ label, done, total, children }: ProgressProps): ComponentChildren {
  return (
    <div class="progress">
      {total > 0 ? <progress aria-label={label} max={total} value={Math.min(done, total)} /> : <progress aria-label={label} />}
      <p class="quiet">{children}</p>
    </div>
  );
}

/** `3.4 MiB`. */
export function sizeOf(bytes: number): string {
  const units = ['octets', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = bytes < 1_024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1_024 ** power;
  return `${value.toLocaleString(locale, { maximumFractionDigits: power === 0 || value >= 100 ? 0 : 1 })} ${units[power] ?? ''}`;
}
