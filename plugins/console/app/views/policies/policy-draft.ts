// The rules of a policy while they are edited: texts as they are typed, and the body that they make.
import { capital } from '../../description/catalog.ts';

export const operations = ['all', 'create', 'read', 'update', 'delete', 'execute'] as const;
type Operation = (typeof operations)[number];
export type Effect = 'allow' | 'reject';
type Effects = { readonly [Named in Operation]?: Effect | undefined };

export type RuleDraft = {
  /** id of the row, which keeps its controls when rows before it go */
  readonly id: number;
  readonly path: string;
  readonly effects: Effects;
  /** `cipher: aes256-gcm96, ecdsa-p256`, a field a line */
  readonly allowedValues: string;
  /** names with spaces or lines between them */
  readonly hideFields: string;
};

export type PolicyDraft = { readonly name: string; readonly description: string; readonly rules: readonly RuleDraft[] };

/** Policy in an answer of the API; fields are absent if policies hide them. */
export type Policy = {
  readonly description?: string;
  readonly 'rest-api'?: { readonly rules?: readonly Rule[] };
};

type Rule = {
  readonly path?: string;
  readonly operations?: Effects;
  readonly 'allowed-values'?: Readonly<Record<string, readonly unknown[]>>;
  readonly 'hide-fields'?: readonly string[];
};

let lastId = 0;

export function newRule(rule: Rule = {}): RuleDraft {
  const { path = '', operations: effects = {}, 'allowed-values': values = {}, 'hide-fields': hidden = [] } = rule;
  const lines = Object.entries(values).map(([field, some]) => `${field}: ${some.map(writeValue).join(', ')}`);
  return { id: (lastId += 1), path, effects, allowedValues: lines.join('\n'), hideFields: hidden.join(' ') };
}

export function draftOf(name: string, policy: Policy): PolicyDraft {
  return { name, description: policy.description ?? '', rules: (policy['rest-api']?.rules ?? []).map(newRule) };
}

/** The body, with what cannot be read of it. */
export function bodyOf({ description, rules }: PolicyDraft): { readonly body: object; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const written = rules.map(({ path, effects, allowedValues, hideFields }, index) => {
    const values = allowedValues
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line): readonly [string, readonly unknown[]] => {
        const colon = line.indexOf(':');
        if (colon <= 0) problems.push(`Rule ${index + 1}: a line of the allowed values is a field, a colon, and its values.`);
        return [line.slice(0, colon).trim(), readValues(line.slice(colon + 1))];
      });
    return {
      path: path.trim(),
      operations: effects,
      ...(values.length === 0 ? {} : { 'allowed-values': Object.fromEntries(values) }),
      ...(hideFields.trim() === '' ? {} : { 'hide-fields': hideFields.trim().split(/[\s,]+/) }),
    };
  });
  return { body: { description, 'rest-api': { rules: written } }, problems };
}

/** `true`, `false`, `null` and numbers are what they look like; a text that looks so is in quotation marks, as in JSON. */
function readValues(text: string): readonly unknown[] {
  const parts = text.match(/\s*"(?:[^"\\]|\\.)*"|[^,]+/g) ?? [];
  return parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(readValue);
}

function readValue(text: string): unknown {
  if (!/^(?:true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|".*")$/s.test(text)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function writeValue(value: unknown): string {
  return typeof value === 'string' && /^[^",\n]+$/.test(value) && value.trim() === value && readValue(value) === value
    ? value
    : JSON.stringify(value);
}

/** The number of the rule that a finding or warning of the API is about, and what it says of it. */
export function ruleIn(text: string): number | undefined {
  const index = /rules[/.[](\d+)/.exec(text)?.[1];
  return index === undefined ? undefined : Number(index);
}

/** Text of a warning of the API beside the rule that it is about: without the path of that rule. */
export function besideRule(text: string): string {
  return capital(text.replace(/^rest-api\/rules\/\d+ \(\S*\) /, ''));
}
