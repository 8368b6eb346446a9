// Times as options have them: `2s`, `5m`.
import { usageError } from './failure.ts';

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** Milliseconds of a time; a number alone means seconds. Throws a usage error that names the option. */
export function milliseconds(text: string, option: string): number {
  const [, number = '', unit = 's'] = /^(\d{1,6})(ms|s|m|h)?$/.exec(text) ?? [];
  const wanted = Number(number) * units[unit as keyof typeof units];
  if (wanted > 0 && wanted < 2 ** 31) return wanted;
  throw usageError(`--${option} must be a time such as 2s or 5m`);
}
