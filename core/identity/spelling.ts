// Finds the spelling of a nested claim that the settings name in another way: people write `realm_access.roles`, as other tools do.
import { isJsonObject, type JsonValue } from '../wire/json.ts';
import { showableText, type Claims } from './claims.ts';

/**
 * The right spelling of a name under which there is no claim, where the claims show what is meant: `/realm_access/roles` for
 * `realm_access.roles`, `$.realm_access.roles`, `realm_access/roles`, and for `roles` alone. Undefined otherwise.
 */
export function spellingOf(claims: Claims, name: string): string | undefined {
  const meant = name.replaceAll(/\[["']?([^\]"']*)["']?\]/g, '.$1').replace(/^[#$]?[./]?/, '');
  // References to other sources of claims have the names of claims that are not there.
  const own = Object.fromEntries(Object.entries(claims).filter(([member]) => !member.startsWith('_claim_')));
  const path = meant === '' ? undefined : (pathAlong(own, meant) ?? pathTo(own, meant));
  const spelling = path === undefined ? undefined : formatName(path);
  // Names are chosen by the provider: what cannot be shown as it is helps nobody.
  return spelling === undefined || showableText(spelling, 512) !== spelling ? undefined : spelling;
}

type Path = readonly string[];

/** The path whose steps, with dots, slashes or colons between them, are the text. Steps may contain these themselves, as client ids do. */
function pathAlong(value: JsonValue, text: string): Path | undefined {
  if (!isJsonObject(value)) return undefined;
  for (const [step, inner] of Object.entries(value)) {
    if (inner === null || !text.startsWith(step)) continue;
    if (text === step) return [step];
    const rest = /[./:]/.test(text.charAt(step.length)) ? pathAlong(inner, text.slice(step.length + 1)) : undefined;
    if (rest !== undefined) return [step, ...rest];
  }
  return undefined;
}

/** The path to the first nested claim of that name with a text or a list. Claims have at most 32 levels. */
function pathTo(value: JsonValue, name: string): Path | undefined {
  if (!isJsonObject(value)) return undefined;
  const found = Object.hasOwn(value, name) ? value[name] : undefined;
  if (typeof found === 'string' || Array.isArray(found)) return [name];
  for (const [step, inner] of Object.entries(value)) {
    const rest = pathTo(inner, name);
    if (rest !== undefined) return [step, ...rest];
  }
  return undefined;
}

/** A claim at the top is its name, a nested one a JSON pointer (RFC 6901). */
function formatName(path: Path): string {
  const [first = '', ...more] = path;
  if (more.length === 0 && !first.startsWith('/')) return first;
  return path.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
