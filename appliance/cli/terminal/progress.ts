// A progress bar on standard error, drawn only on a terminal.
import type { Io } from './io.ts';

export type Progress = {
  /** `fraction` from 0 to 1, undefined when the end is not known */
  show(items: number, fraction: number | undefined): void;
  clear(): void;
};

const barCells = 30;
const redrawMs = 100;

/** `unit`: the counted things. */
export function openProgress({ stderr }: Io, unit = ''): Progress {
  const started = performance.now();
  let drawn = Number.NEGATIVE_INFINITY;
  const isShown = stderr.isTTY === true;
  return {
    show(items, fraction) {
      const now = performance.now();
      if (!isShown || now - drawn < redrawMs) return;
      drawn = now;
      const perSecond = Math.round(items / Math.max(0.001, (now - started) / 1000));
      const filled = Math.round((fraction ?? 0) * barCells);
      const bar =
        fraction === undefined
          ? ''
          : `${'█'.repeat(filled)}${'░'.repeat(barCells - filled)} ${String(Math.floor(fraction * 100)).padStart(3)} %  `;
      stderr.write(
        `\r\u001b[K${bar}${items.toLocaleString('en')}${unit === '' ? '' : ` ${unit}`} done, ${perSecond.toLocaleString('en')}/s`,
      );
    },
    clear() {
      if (isShown) stderr.write('\r\u001b[K');
    },
  };
}
