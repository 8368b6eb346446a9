// Loader of the cases of the KMIP profiles (source and licence: kmip/SOURCE.md).
import { readFileSync } from 'node:fs';

/** A structure has items; any other item a type and the text of its value, in which `$NAME` is to be filled in. */
export type CaseNode = readonly [tag: string, items: readonly CaseNode[]] | readonly [tag: string, type: string, value: string];

export type KmipCase = {
  readonly name: string;
  readonly version: string;
  /** requests and answers in turn */
  readonly messages: readonly CaseNode[];
};

let cases: readonly KmipCase[] | undefined;

export function kmipCases(): readonly KmipCase[] {
  cases ??= JSON.parse(readFileSync(new URL('kmip/cases.json', import.meta.url), 'utf8')) as readonly KmipCase[];
  return cases;
}
