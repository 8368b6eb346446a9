// Common parts of the endpoints of a resource.
import { z } from 'zod';
import type { JsonObject } from '../../../wire/json.ts';
import { toKebab, Wire } from '../../../wire/schema.ts';
import { Whole } from '../../../audit/record.ts';
import { withArticle } from '../../../wire/article.ts';
import type { Store } from '../../../store/store.ts';
import { type FieldRight, Reply, type EndpointCall } from '../../endpoint.ts';
import type { Outcome } from '../change.ts';
import type { Entry } from '../sight.ts';
import { Entries } from '../entries.ts';
import { changeQuery, readFlag } from '../list-query.ts';
import type { AnyResource } from '../resource.ts';
import { ResourceView, describedSchemas, type Document } from '../view.ts';

/** Bodies are read in several steps (translate, merge, check), so the pipeline only checks that they are JSON objects. */
const rawBody = z.record(z.string(), z.unknown()) as unknown as z.ZodType<JsonObject>;

/** Ends the description of every change. */
export const changeText = ' With `validate=true` everything is checked and nothing stored.';

/** A resource for its endpoints, with values that are the same for all requests. */
export class VerbContext {
  readonly view: ResourceView;
  readonly entries: Entries;
  readonly store: Store;
  /** `a tenant`, for summaries */
  readonly aNoun: string;
  /** path below the two trees: of the list, and of one entry */
  readonly listPath: string;
  readonly entryPath: string;
  readonly schemas: ReturnType<typeof describedSchemas>;
  /** codes that every change may answer with */
  readonly errors: readonly string[];

  constructor(resource: AnyResource, store: Store) {
    this.view = new ResourceView(resource, store);
    this.entries = new Entries(this.view);
    this.store = store;
    this.aNoun = withArticle(resource.noun);
    this.listPath = resource.path;
    this.entryPath = `${resource.path}/{${this.view.nameField}}`;
    this.schemas = describedSchemas(resource);
    this.errors = ['not-found', 'record-unreadable', ...(resource.errors ?? [])];
  }

  get noun(): string {
    return this.view.resource.noun;
  }

  /** Fields of every endpoint of the resource. */
  get shared() {
    const { scope, tag } = this.view.resource;
    return {
      ...(scope === 'system' ? ({ reservedFor: 'system-tenant' } as const) : {}),
      access: 'token',
      tag,
      nameField: this.view.nameField,
    } as const;
  }

  /** Fields of every read. */
  get reading() {
    return { ...this.shared, method: 'GET', operation: 'read', audit: 'reads-go-on', errors: ['not-found', 'record-unreadable'] } as const;
  }

  /** Fields of every change. */
  get changing() {
    return { ...this.shared, audit: 'required', act: 'by-document', query: changeQuery } as const;
  }

  /** Fields of every change with a document. */
  get writing() {
    return { ...this.changing, input: rawBody } as const;
  }

  /** Needs of changes besides: a field whose validity depends on others is changed by who sees these. */
  get changeRights(): readonly FieldRight[] {
    const { fieldRights = [], judgedBy = {}, validAnyway = {} } = this.view.resource;
    const judged = Object.entries(judgedBy).map(([field, judges]) => ({
      field: wirePath(field),
      operation: 'read' as const,
      path: `/v1/state/${this.entryPath}`,
      when: `it is stated${field in validAnyway ? ` as other than ${String(validAnyway[field])}` : ''} without ${judges.map(wirePath).join(', ')}`,
    }));
    return [...fieldRights, ...judged];
  }

  /** Needs of removals besides. */
  get removalRights(): readonly FieldRight[] {
    const { removalRights = [], removalJudgedBy = [], removalTells = [] } = this.view.resource;
    const judging =
      removalJudgedBy.length === 0 ? [] : [{ of: this.entryPath, when: `the answer tells ${removalJudgedBy.map(toKebab).join(', ')}` }];
    const told = removalTells.map(({ list, field, when }) => ({
      of: `${list}/{}`,
      when: `${when === undefined ? '' : `${when}, and `}the answer tells ${field} of each entry`,
    }));
    const rights = [...judging, ...told].map(({ of, when }) => ({
      ...{ field: 'validate', operation: 'read' as const, path: `/v1/state/${of}`, when: `it is true: ${when}` },
    }));
    return [...removalRights, ...rights];
  }

  /** For the API description. */
  described<Form extends 'list' | 'entry'>(form: Form, tree: 'config' | 'state' = 'config') {
    return { form, tree, facts: this.view.resource } as const;
  }

  /** The fields of a change. The trail gets the body only once its names are known: a misspelt field could hold a secret. */
  readChange(call: EndpointCall, entry: Entry, body: JsonObject): Document {
    readFlag(call.query, 'validate');
    const fields = this.view.readChange(entry.name, body);
    call.noteAudit({ requestParameters: this.view.auditParameters(body) });
    return fields;
  }

  /** Records the committed body in the trail, where refused bodies have a shorter form. */
  noteDone(call: EndpointCall, body: JsonObject): void {
    if (this.view.resource.recordedWhole === true)
      call.noteAudit({ requestParameters: new Whole(this.view.auditParameters(body, 'done')) });
  }

  /** 201 with the document and its location. */
  created(entry: Entry, { record, document }: Outcome): Reply {
    const { view } = this;
    const location = `/${view.pathOf('config', entry.names).map(encodeURIComponent).join('/')}`;
    const shown = record === undefined ? view.configOf(entry.name, document) : view.config(entry.name, record);
    return new Reply(201, new Wire({ ...shown, ...this.#warnings(document) }), { location, ...tagHeader(view.tag(entry.name, record)) });
  }

  /** 204, or 200 with the document, as far as a read would show it, and its warnings. */
  replaced(call: EndpointCall, entry: Entry, { record, document }: Outcome): Reply {
    const headers = this.#tagFor(call, entry, record);
    const warnings = this.#warnings(document);
    if (warnings === undefined) return new Reply(204, undefined, headers);
    const shown = call.access.asRead(this.view.configOf(entry.name, document), this.view.nameField);
    return new Reply(200, new Wire({ ...(shown as Document), ...warnings }), headers);
  }

  /** As replaced, for a merge. Warnings concern the whole document, of which a merge states a part: only callers who may read all of it get them. */
  merged(call: EndpointCall, entry: Entry, outcome: Outcome): Reply {
    if (call.access.readsAll(this.view.nameField)) return this.replaced(call, entry, outcome);
    return new Reply(204, undefined, this.#tagFor(call, entry, outcome.record));
  }

  /** Makes the entity tag. Equal tags reveal equal documents, so only callers who may read the whole document get one. */
  #tagFor(call: EndpointCall, entry: Entry, record: unknown): Record<string, string> {
    return call.access.readsAll(this.view.nameField) ? tagHeader(this.view.tag(entry.name, record)) : {};
  }

  #warnings(document: Document): { readonly warnings: readonly string[] } | undefined {
    const warnings = this.view.resource.warnings?.(document) ?? [];
    return warnings.length === 0 ? undefined : { warnings };
  }
}

function wirePath(path: string): string {
  return path.split('.').map(toKebab).join('/');
}

/** ETag header of an entry; none if nothing was stored. */
export function tagHeader(tag: string | undefined): Record<string, string> {
  return tag === undefined ? {} : { etag: tag };
}
