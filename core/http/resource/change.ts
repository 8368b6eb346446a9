// Creations, replacements, merges and removals: planned outside the transaction, committed only on the record they were planned for.
import { isDeepStrictEqual } from 'node:util';
import { withArticle } from '../../wire/article.ts';
import { fail, isOvertaken } from '../../base/errors.ts';
import { failAt } from '../../base/texts/invalid.ts';
import type { Store, StoreKey } from '../../store/store.ts';
import { inTurn } from '../../base/async/turns.ts';
import { toKebab } from '../../wire/schema.ts';
import type { EndpointCall } from '../endpoint.ts';
import { requireToldOfAll } from '../checks/told.ts';
import { requireNamed } from '../named-entries.ts';
import { requirePreconditions } from '../response/entity-tag.ts';
import type { Plan } from './resource.ts';
import { readListRule } from './list-query.ts';
import { mergeDocument, withoutRepeats } from './merge.ts';
import { withChangeIdOf, withNewChangeId } from './change-id.ts';
import { blindStatements, type BlindStatements, type Entry, sightOf, staysByReplacing, withoutUnseenContainers } from './sight.ts';
import { requireValuesOfChange, requireValuesOfNew } from './values.ts';
import { requireApprovalOf } from './approval/change-approval.ts';
import { valueAt, withNames, type Document, type ResourceView } from './view.ts';

/** Outcome of a change. `record`: undefined after `validate=true`, unless the entry was equal already and the caller may know that. */
export type Outcome = { readonly created: boolean; readonly record: unknown; readonly document: Document };

/** Limit of restarts of a change after another process changed the record. Within one process changes take turns. */
const attempts = 256;
/** Limit of restarts after a change of other records that it depends on. */
const mostOvertaken = 8;

/**
 * POST: creates an entry that must not exist. Policies allow it at the path of the list, and none may refuse it at that of the entry. `isApproved`: as a
 * part of a batch that has its approval.
 */
export async function createEntry(
  view: ResourceView,
  store: Store,
  call: EndpointCall,
  entry: Entry,
  fields: Document,
  isApproved?: 'approved',
): Promise<Outcome> {
  call.access.requireNotRefusedAt(view.pathOf('config', entry.names), 'create');
  const documentFor: DocumentFor = (before) => {
    const wanted = view.parse(fields);
    if (before !== undefined)
      throw fail('already-exists', { detail: `${withArticle(view.resource.noun).replace('a', 'A')} of this name exists.` });
    return wanted;
  };
  return change(view, store, call, entry, fields, documentFor, isApproved);
}

/** PUT: the document as sent, with defaults. Absent creation-time fields and one-way flags keep their value (api 4). */
export function replaceEntry(view: ResourceView, store: Store, call: EndpointCall, entry: Entry, fields: Document): Promise<Outcome> {
  const { creationFields = [], oneWayFields = [] } = view.resource;
  const documentFor: DocumentFor = (before) => {
    if (before === undefined) return view.parse(fields);
    const staying = [...creationFields, ...oneWayFields].filter((field) => fields[field] === undefined && before[field] !== undefined);
    return view.parse({ ...fields, ...Object.fromEntries(staying.map((field) => [field, before[field]])) });
  };
  const outcome = change(view, store, call, entry, fields, documentFor, 'by-replacing');
  return withoutGuess(view, call, fields, outcome);
}

/** PATCH: merged into the present document. */
export function mergeEntry(view: ResourceView, store: Store, call: EndpointCall, entry: Entry, fields: Document): Promise<Outcome> {
  const kept = (view.resource.notRemovableByMerge ?? []).find((field) => fields[field] === null);
  if (kept !== undefined) {
    const isSecret = view.resource.secretFields?.includes(kept) === true;
    const advice = isSecret ? 'leave it out to keep the present one, or give another' : 'replace the document without it';
    throw failAt(toKebab(kept), `"${toKebab(kept)}" cannot be removed by a merge; ${advice}.`);
  }
  const lists = readListRule(call);
  const outcome = change(view, store, call, entry, fields, (before) => {
    if (before === undefined) throw fail('not-found');
    // A container that the caller cannot see is merged as if it were absent first: an answer by its present fields would tell that it is there.
    const blind = withoutUnseenContainers(view, before, fields, sightOf(view, call, entry));
    if (blind !== before) view.parse(mergeDocument(view.shape, blind, fields, lists) as Document);
    const merged = view.parse(mergeDocument(view.shape, before, fields, lists) as Document);
    return lists === 'unite' ? (withoutRepeats(view.shape, merged) as Document) : merged;
  });
  return withoutGuess(view, call, fields, outcome);
}

/**
 * Hides equality in the outcome of a dry run, which changes nothing, so that hidden values could be guessed by many of them: it does not tell a
 * caller who may not read the whole entry whether it is equal already, nor any caller whether a short secret is the present one.
 */
async function withoutGuess(view: ResourceView, call: EndpointCall, fields: Document, outcome: Promise<Outcome>): Promise<Outcome> {
  const done = await outcome;
  if (call.query.get('validate') !== 'true') return done;
  return mayKnowEqual(view, call, fields) ? done : { ...done, record: undefined };
}

/** Tells whether the caller may know that an entry already had the document of a request. */
function mayKnowEqual(view: ResourceView, { access }: EndpointCall, fields: Document): boolean {
  return access.readsAll(view.nameField) && !view.statesShortSecret(fields);
}

async function change(
  view: ResourceView,
  store: Store,
  call: EndpointCall,
  entry: Entry,
  stated: Document,
  documentFor: DocumentFor,
  way?: Creates | 'approved',
): Promise<Outcome> {
  const line = [view.resource.table.name, ...entry.key].join('/');
  return inTurn(line, (hasWaited) => changeInTurn(view, store, call, entry, stated, documentFor, hasWaited, way));
}

/** Makes the complete, parsed document of a request from the present one. */
type DocumentFor = (before: Document | undefined) => Document;

/** Marks a PUT, admitted as an update: if the entry does not exist, its document is judged as a creation as well. */
type Creates = 'by-replacing';

async function changeInTurn(
  view: ResourceView,
  store: Store,
  call: EndpointCall,
  entry: Entry,
  stated: Document,
  documentFor: DocumentFor,
  isOld: boolean,
  way?: Creates | 'approved',
): Promise<Outcome> {
  const { resource } = view;
  const creates = way === 'by-replacing' ? way : undefined;
  let overtaken = 0;
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const current = attempt === 1 && !isOld ? entry.record : reread(view, store, call, entry);
    if (current !== undefined) requireJudgesSeen(view, call, entry, stated, creates === 'by-replacing');
    const before = current === undefined ? undefined : resource.toDocument(current);
    const documentOf: DocumentFor = (present) => {
      const wanted = documentFor(present);
      return resource.complete?.({ names: entry.names, document: wanted, current }) ?? wanted;
    };
    const document = documentOf(before);
    requireOwn(view, entry);
    const replaces = creates === 'by-replacing';
    const blindly = before === undefined ? () => undefined : blindStatements(view, call, entry, stated, replaces);
    if (before !== undefined) requireFixedFields(view, before, document, blindly);
    if (before === undefined) requireValuesOfNew(view, call, entry, view.judgedOf(entry.name, document, stated), creates);
    else requireValuesOfChange(view, call, entry, { before, after: document, stated, replaces, documentOf });
    for (const field of view.namedFields)
      requireNamed(call.access, [field], document, blindly(...field.path) === undefined ? before : undefined);
    const plan = resource.plan({ call, names: entry.names, document, current, blindly });
    if (before !== undefined) requireSecretsAgain(view, before, document, stated, blindly);
    const created = current === undefined;
    if (call.query.get('validate') === 'true')
      return { created, record: isAlready(view, current, document) ? current : undefined, document };
    const isKept = isAlready(view, current, document) && mayKnowEqual(view, call, stated);
    if (!isKept && way !== 'approved') await requireApprovalOf(view, call, entry, current, { before, after: document }, plan.approvedFor);
    const committed = await commit(view, store, entry.key, current, plan, isKept).catch((error: unknown) => {
      if (isOvertaken(error) && ++overtaken < mostOvertaken) return undefined;
      throw error;
    });
    if (committed === undefined) continue;
    await plan.after?.();
    return { created, record: committed.record, document };
  }
  throw fail('conflict');
}

/** Commits a plan; undefined, without a write, if the record changed after the plan was made. */
async function commit(
  view: ResourceView,
  store: Store,
  key: StoreKey,
  current: unknown,
  plan: Plan<unknown, unknown>,
  isKept: boolean,
): Promise<{ record: unknown } | undefined> {
  const { table } = view.resource;
  const prepared = await plan.prepare?.();
  try {
    const committed = await store.write((transaction) => {
      if (!isSame(transaction.get(table, key), current)) return undefined;
      const made = plan.commit(transaction, prepared);
      const record = isKept ? withChangeIdOf(made, current) : withNewChangeId(made);
      transaction.put(table, key, record);
      return { record };
    });
    if (committed === undefined) await plan.discard?.(prepared);
    return committed;
  } catch (error) {
    await plan.discard?.(prepared);
    throw error;
  }
}

/** DELETE: removes an entry, with dependent records of the resource. */
export async function removeEntry(view: ResourceView, store: Store, call: EndpointCall, entry: Entry): Promise<void> {
  const { resource } = view;
  let overtaken = 0;
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const current = attempt === 1 ? entry.record : reread(view, store, call, entry);
    if (current === undefined) throw fail('not-found');
    requireOwn(view, entry);
    if (call.query.get('validate') === 'true') requireRemovalSeen(view, call, entry, current);
    const removal = resource.planRemoval?.(call, entry.names, current);
    if (call.query.get('validate') === 'true') return;
    await requireApprovalOf(view, call, entry, current, { before: resource.toDocument(current), after: undefined });
    await removal?.prepare?.();
    const committed = store.write((transaction) => {
      if (!isSame(transaction.get(resource.table, entry.key), current)) return false;
      transaction.delete(resource.table, entry.key);
      removal?.commit?.(transaction);
      return true;
    });
    const removed = await committed.catch((error: unknown) => {
      if (isOvertaken(error) && ++overtaken < mostOvertaken) return false;
      throw error;
    });
    if (removed) return removal?.after?.();
  }
  throw fail('conflict');
}

/** Removes only the record of an entry that does not open: its dependent records are unknown. */
export async function removeUnreadable(view: ResourceView, store: Store, entry: Entry): Promise<void> {
  const removed = await store.write((transaction) => transaction.deleteUnreadable(view.resource.table, entry.key));
  if (!removed) throw fail('conflict');
}

/** Refuses a dry run of a removal that would reveal hidden fields without harm to the entry. */
function requireRemovalSeen(view: ResourceView, call: EndpointCall, entry: Entry, current: unknown): void {
  const isSeen = sightOf(view, call, entry);
  const unseen = (view.resource.removalJudgedBy ?? []).find((field) => !isSeen([field]));
  if (unseen !== undefined)
    throw fail('policy-denied', {
      detail: `A dry run would tell "${toKebab(unseen)}", which policies hide from you: it needs the right to read that.`,
    });
  for (const told of view.resource.removalTells ?? [])
    if (told.depends?.(call, current) !== false) requireToldOfAll(call, withNames(told.list, entry.names.slice(0, -1)), told.field);
}

function reread(view: ResourceView, store: Store, call: EndpointCall, entry: Entry): unknown {
  store.refresh();
  const record = view.resource.table.get(entry.key);
  requirePreconditions(preconditionsOf(call), view.tag(entry.name, record));
  return record;
}

/** Reads the preconditions of RFC 9110 section 13. */
export function preconditionsOf(call: EndpointCall): { ifMatch: string | undefined; ifNoneMatch: string | undefined } {
  return { ifMatch: call.headers['if-match'], ifNoneMatch: call.headers['if-none-match'] };
}

function isSame(fresh: unknown, planned: unknown): boolean {
  return fresh === planned || isDeepStrictEqual(fresh, planned);
}

/** Tells whether an entry has this document, including secrets. */
function isAlready({ resource }: ResourceView, current: unknown, document: Document): boolean {
  const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
  return current !== undefined && isDeepStrictEqual(plain(resource.toDocument(current)), plain(document));
}

function requireOwn({ resource }: ResourceView, { builtIn }: Entry): void {
  if (builtIn) throw fail('built-in', { detail: `This ${resource.noun} is built in; copy it under another name.` });
}

/**
 * Throws policy-denied for a field whose validity depends on the present value of another field that the caller cannot read, whatever it is:
 * an accepted change would reveal it.
 */
function requireJudgesSeen(view: ResourceView, call: EndpointCall, entry: Entry, stated: Document, replaces: boolean): void {
  const isSeen = sightOf(view, call, entry);
  for (const [field, judges] of Object.entries(view.resource.judgedBy ?? {})) {
    const isDefaulted = replaces && view.resource.defaultedBy?.includes(field) === true;
    const value = valueAt(stated, field.split('.'));
    if (value === undefined ? !isDefaulted : value === view.resource.validAnyway?.[field]) continue;
    const paths = judges.map((judge) => judge.split('.'));
    const isKept = (path: readonly string[]) => valueAt(stated, path) === undefined && (!replaces || staysByReplacing(view, path));
    const unseen = paths.find((path) => isKept(path) && !isSeen(path));
    if (unseen === undefined) continue;
    const [changed, hidden] = [field.split('.'), unseen].map((path) => path.map(toKebab).join('/'));
    const advice = Object.hasOwn(view.resource.stateFields.shape, unseen[0] ?? '') ? '' : ', or a request that states both';
    const message = `"${changed}" is judged by "${hidden}", which policies hide from you: to change it needs the right to read that${advice}.`;
    throw failAt(changed ?? '', message, 'policy-denied');
  }
}

/** Checks fixed fields. Hidden ones are not compared with stated values: a refusal would reveal that they differ. */
function requireFixedFields({ resource }: ResourceView, before: Document, after: Document, blindly: BlindStatements): void {
  const unseen = ' Leave it out: policies hide its value from you.';
  for (const field of resource.creationFields ?? []) {
    const rule = 'is set at creation and cannot be changed';
    if (blindly(field) !== undefined) throw fixed('immutable-field', field, rule, unseen);
    if (!isDeepStrictEqual(before[field], after[field])) throw fixed('immutable-field', field, rule);
  }
  for (const field of resource.oneWayFields ?? []) {
    const rule = 'cannot be set back once it is true';
    if (after[field] === true) continue;
    if (blindly(field) !== undefined) throw fixed('one-way-flag', field, rule, unseen);
    if (before[field] === true) throw fixed('one-way-flag', field, rule);
  }
}

/** Throws missing-field for a secret that would be sent to another recipient than its setter intended. */
function requireSecretsAgain(
  { resource }: ResourceView,
  before: Document,
  after: Document,
  stated: Document,
  blindly: BlindStatements,
): void {
  for (const [secret, recipients] of Object.entries(resource.secretsSentTo ?? {})) {
    // Only a text states it again: null would keep the present one.
    if (before[secret] === undefined || typeof stated[secret] === 'string') continue;
    const changed = recipients.find((field) => blindly(field) !== undefined || !isDeepStrictEqual(before[field], after[field]));
    if (changed === undefined) continue;
    const message = `"${toKebab(secret)}" must be given again where "${toKebab(changed)}" changes, which says where it is sent.`;
    throw failAt(toKebab(secret), message, 'missing-field');
  }
}

function fixed(code: 'immutable-field' | 'one-way-flag', field: string, rule: string, advice = '') {
  return failAt(toKebab(field), `"${toKebab(field)}" ${rule}.${advice}`, code);
}
