// A day of the trail, as a person picks it: in their zone, or in UTC where times are shown so.

/** Begin and end of a day `2026-11-27`; undefined for any other text. */
export function rangeOfDay(day: string, isUtc: boolean): { readonly from: string; readonly to: string } | undefined {
  const [, year = '', month = '', date = ''] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? [];
  const at = (shift: number): Date =>
    isUtc
      ? new Date(Date.UTC(Number(year), Number(month) - 1, Number(date) + shift))
      : new Date(Number(year), Number(month) - 1, Number(date) + shift);
  if (year === '' || Number.isNaN(at(0).getTime())) return undefined;
  return { from: at(0).toISOString(), to: at(1).toISOString() };
}

/** The day that begins at a time and ends at another; empty for any other range. */
export function dayOfRange(from: number, to: number, isUtc: boolean): string {
  if (Number.isNaN(from) || Number.isNaN(to)) return '';
  const at = new Date(from);
  const [year, month, date] = isUtc
    ? [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()]
    : [at.getFullYear(), at.getMonth(), at.getDate()];
  const day = [String(year).padStart(4, '0'), String(month + 1).padStart(2, '0'), String(date).padStart(2, '0')].join('-');
  const range = rangeOfDay(day, isUtc);
  return range !== undefined && Date.parse(range.from) === from && Date.parse(range.to) === to ? day : '';
}
