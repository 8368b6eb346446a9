// Numbers in sentences: `1 character`, `2 characters`; `version 3`, `versions 3 to 5`.

/** A number of things. */
export function counted(count: number | bigint, one: string, many = `${one}s`): string {
  return `${count} ${Number(count) === 1 ? one : many}`;
}

/** Things by their first and last number. */
export function ranged(first: number, last: number, one: string, many = `${one}s`): string {
  return first === last ? `${one} ${first}` : `${many} ${first} to ${last}`;
}
