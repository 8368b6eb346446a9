// Plans the changes that make the declared entries so: the appliance itself compares each, in a dry run.
import type { Catalog } from '../catalog.ts';
import { Refused, type Client } from '../client.ts';
import { fieldAt, setField, type Document, isDocument } from '../field-path.ts';
import { CommandFailed, exitCodes } from '../terminal/failure.ts';
import { inOrder, kindsOf, pathFor, type Kind, type Placed } from './kinds.ts';
import type { Declared } from './load.ts';

export type Step = Placed & {
  readonly does: 'create' | 'change' | 'nothing';
  /** present document, without secrets; undefined: it does not exist */
  readonly before: Document | undefined;
  /** future document, without secrets */
  readonly after: Document;
  /** entity tag of the present document: the change applies to that only */
  readonly tag: string | undefined;
  /** of the change */
  readonly body: Document;
  /** paths of the secrets that the document sets */
  readonly secrets: readonly string[];
};

/** Treatment of fields that a document does not state: left as they are, or reset. */
export type Rule = 'merge' | 'replace';

/** Plans every entry, in the order in which they can be made. Throws CommandFailed naming the place of a document that is refused. */
export async function planAll(declared: readonly Declared[], rule: Rule, catalog: Catalog, client: Client): Promise<readonly Step[]> {
  const steps: Step[] = [];
  for (const placed of inOrder(declared, kindsOf(catalog))) {
    const hasNew = steps.some(({ does }) => does === 'create');
    steps.push(await planOne(placed, rule, client, hasNew).catch((error: unknown) => atPlace(error, placed)));
  }
  return steps;
}

/** Throws the failure again, with the place of the document before its message. */
export function atPlace(error: unknown, { declared }: Placed): never {
  if (!(error instanceof CommandFailed)) throw error;
  throw new CommandFailed(error.exitCode, `${declared.where}: ${declared.resource} ${declared.names.join(' ')}: ${error.message}`);
}

/** `mayDepend`: something is made before it, without which the dry run of a creation may fail. */
async function planOne(placed: Placed, rule: Rule, client: Client, mayDepend: boolean): Promise<Step> {
  const { kind, declared } = placed;
  const secrets = secretsIn(kind, declared.config);
  const found = await readEntry(kind, declared.names, client);
  if (found === undefined) {
    const body = { name: declared.names.at(-1), ...declared.config };
    const after = await dryCreation(placed, body, client).catch((error: unknown) => {
      if (!mayDepend || !(error instanceof Refused)) throw error;
      return withoutSecrets(body, secrets);
    });
    return { ...placed, does: 'create', before: undefined, after, tag: undefined, body, secrets };
  }
  const { tag, document: before } = found;
  const body = rule === 'merge' ? wholeMaps(kind, declared.config, before) : declared.config;
  const isSame = (await change(placed, rule, body, tag, client, true)) === tag;
  const stated = withoutSecrets(declared.config, secrets);
  const after = isSame ? before : rule === 'merge' ? merged(kind, before, stated) : replaced(kind, before, stated);
  return { ...placed, does: isSame ? 'nothing' : 'change', before, after, tag, body, secrets };
}

/** Reads the entity tag and the document of an entry; undefined if it does not exist. */
export async function readEntry(
  { show }: Kind,
  names: readonly string[],
  client: Client,
): Promise<{ readonly tag: string; readonly document: Document } | undefined> {
  try {
    const { body, headers } = await client.exchange({ method: 'GET', path: pathFor(show, names) });
    return { tag: headers.etag ?? '', document: JSON.parse(body.toString()) as Document };
  } catch (error) {
    if (error instanceof Refused && error.exitCode === exitCodes.notFound) return undefined;
    throw error;
  }
}

async function dryCreation({ kind, declared }: Placed, body: Document, client: Client): Promise<Document> {
  const query = new URLSearchParams({ validate: 'true' });
  return (await client.json({ method: 'POST', path: pathFor(kind.create, declared.names), query, body })) as Document;
}

/** Changes what has the entity tag, or tries it; answers the tag that there is afterwards, if the answer has one. */
export async function change(
  { kind, declared }: Placed,
  rule: Rule,
  body: Document,
  tag: string,
  client: Client,
  isTry: boolean,
): Promise<string | undefined> {
  const entry = rule === 'merge' ? kind.merge : kind.replace;
  const query = new URLSearchParams({ ...(rule === 'merge' ? { lists: 'replace' } : {}), ...(isTry ? { validate: 'true' } : {}) });
  const path = pathFor(entry, declared.names);
  return (await client.exchange({ method: entry.method, path, query, headers: { 'if-match': tag }, body })).headers.etag;
}

function secretsIn({ fields }: Kind, config: Document): readonly string[] {
  return fields
    .filter(({ path, schema }) => schema['x-secret'] === true && fieldAt(config, path.split('/')) !== undefined)
    .map(({ path }) => path);
}

function withoutSecrets(document: Document, secrets: readonly string[]): Document {
  const copy = structuredClone(document);
  for (const path of secrets) {
    const parts = path.split('/');
    const holder = fieldAt(copy, parts.slice(0, -1));
    if (isDocument(holder)) delete holder[parts.at(-1) ?? ''];
  }
  return copy;
}

/** Completes maps, which are stated as wholes: names that are no longer in one become null, which removes them. */
function wholeMaps({ fields }: Kind, config: Document, before: Document): Document {
  const body = structuredClone(config);
  for (const { path, schema } of fields) {
    const [stated, present] = [fieldAt(config, path.split('/')), fieldAt(before, path.split('/'))];
    if (!isMap(schema) || !isDocument(stated) || !isDocument(present)) continue;
    const gone = Object.keys(present).filter((name) => !(name in stated));
    setField(body, path, { ...stated, ...Object.fromEntries(gone.map((name) => [name, null])) });
  }
  return body;
}

/** Containers merge, everything else is as stated; null removes. */
function merged({ fields }: Kind, before: Document, stated: Document): Document {
  const containers = new Set(fields.filter(({ schema }) => schema.type === 'object' && !isMap(schema)).map(({ path }) => path));
  const overlay = (below: Document, top: Document, prefix: string): Document => {
    const whole = { ...below };
    for (const [name, value] of Object.entries(top)) {
      const inner = whole[name];
      if (value === null) delete whole[name];
      else
        whole[name] =
          containers.has(prefix + name) && isDocument(inner) && isDocument(value) ? overlay(inner, value, `${prefix}${name}/`) : value;
    }
    return whole;
  };
  return overlay(before, stated, '');
}

/** The stated fields; others are reset to their default, but for those that cannot change. */
function replaced({ fields }: Kind, before: Document, stated: Document): Document {
  const whole: Document = { name: before['name'], ...structuredClone(stated) };
  for (const { path, schema } of fields) {
    const parts = path.split('/');
    const [holder, present] = [fieldAt(whole, parts.slice(0, -1)), fieldAt(before, parts)];
    if (present === undefined || !isDocument(holder) || fieldAt(whole, parts) !== undefined) continue;
    const stays = schema['x-creation-only'] === true || schema['x-one-way'] === true;
    const preset = schema['x-default'];
    if (stays || preset !== undefined) setField(whole, path, stays ? present : preset);
  }
  return whole;
}

function isMap({ additionalProperties }: { readonly additionalProperties?: unknown }): boolean {
  return typeof additionalProperties === 'object';
}
