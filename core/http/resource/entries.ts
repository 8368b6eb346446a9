// Finds the entries of a resource that requests name: 404 before 412, and both before the body is read.
import { fail } from '../../base/errors.ts';
import { type StoreKey, Unreadable } from '../../store/store.ts';
import type { EndpointCall } from '../endpoint.ts';
import { requirePreconditions } from '../response/entity-tag.ts';
import { preconditionsOf } from './change.ts';
import type { Entry } from './sight.ts';
import type { ResourceView } from './view.ts';

/** The entries of one resource. */
export class Entries {
  readonly #view: ResourceView;
  /** path parameters of the parents, outermost first */
  readonly #parentParameters: readonly string[];

  constructor(view: ResourceView) {
    this.#view = view;
    this.#parentParameters = [...view.resource.path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1] ?? '');
  }

  /** The names of the parents in the path, outermost first. Throws `not-found` unless they exist for this caller. */
  parentsOf(call: EndpointCall): string[] {
    const parents = this.#parentParameters.map((parameter) => call.params[parameter] ?? '');
    if (parents.length > 0 && this.#view.resource.parentExists?.(call, parents) === false) throw fail('not-found');
    return parents;
  }

  /** Key of the entry with these names; with the parents' names alone, the prefix of all entries. */
  keyOf(call: EndpointCall, names: readonly string[]): StoreKey {
    const { resource } = this.#view;
    return resource.key?.(call, names) ?? (resource.scope === 'tenant' ? [call.caller.tenantId, ...names] : names);
  }

  /** Finds the entry with a name, which may not exist. Throws `record-unreadable`. */
  entryOf(call: EndpointCall, parents: readonly string[], name: string): Entry {
    const entry = this.#look(call, parents, name);
    if (entry.record instanceof Unreadable) throw this.#unreadable(entry.record);
    return entry;
  }

  /** As entryOf, with `Unreadable` for a record that does not open. */
  #look(call: EndpointCall, parents: readonly string[], name: string): Entry {
    const names = [...parents, name];
    const key = this.keyOf(call, names);
    const builtIn = this.#view.resource.builtIn?.get(name);
    return { names, name, key, builtIn: builtIn !== undefined, record: builtIn ?? this.#view.resource.table.getFound(key) };
  }

  /** Finds an entry for a read. Throws `not-found`. */
  find(call: EndpointCall): Entry {
    const entry = this.#named(call);
    if (entry.record === undefined) throw fail('not-found', { detail: `There is no ${this.#view.resource.noun} of this name.` });
    return entry;
  }

  /** Finds an entry for a removal; for root also one whose record does not open. Throws `not-found`, `precondition-failed`. */
  findForRemoval(call: EndpointCall): Entry {
    const entry = this.#look(call, this.parentsOf(call), call.params[this.#view.nameField] ?? '');
    return entry.record instanceof Unreadable && call.caller.policies.includes('root') ? entry : this.findForChange(call);
  }

  /** Finds an entry for a merge. Throws `not-found`, `precondition-failed`. */
  findForChange(call: EndpointCall): Entry {
    return this.#requirePreconditions(call, this.find(call));
  }

  /** Finds an entry for PUT, which also creates and then needs `create` as well. Throws `policy-denied`, `precondition-failed`. */
  findForReplacement(call: EndpointCall): Entry {
    const entry = this.#named(call);
    if (entry.record === undefined) {
      if (!call.access.allows('create')) throw fail('policy-denied');
      call.access.requireMadeInList(this.#view.pathOf('config', entry.names));
    }
    return this.#requirePreconditions(call, entry);
  }

  #named(call: EndpointCall): Entry {
    return this.entryOf(call, this.parentsOf(call), call.params[this.#view.nameField] ?? '');
  }

  #unreadable({ reason }: Unreadable): Error {
    const { noun } = this.#view.resource;
    return fail('record-unreadable', {
      detail: `The record of this ${noun} cannot be read: ${reason}. Restore the original record, or delete the ${noun} as root.`,
    });
  }

  #requirePreconditions(call: EndpointCall, entry: Entry): Entry {
    requirePreconditions(preconditionsOf(call), this.#view.tag(entry.name, entry.record));
    return entry;
  }
}
