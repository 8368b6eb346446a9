// Choices of a field that names an entry: the existing entries, without those that the person may not use so.
import type { ComponentChildren } from 'preact';
import { may } from '../api/may.ts';
import { useLoaded } from '../parts/loaded.ts';
import { type Names, offered } from './named-choice.ts';

const mostOffered = 200;

/** Choices for the `list` of an input. */
export function NamedEntries({ id, names }: { readonly id: string; readonly names: Names }): ComponentChildren {
  const query = { keys: 'true', limit: String(mostOffered) };
  const loaded = useLoaded({ method: 'GET', path: `/v1/config/${names.resource}`, query }).value;
  const all = loaded.state === 'there' && Array.isArray(loaded.answer.body) ? loaded.answer.body.map(String) : [];
  return (
    <datalist id={id}>
      {offered(all, names, (operation, path) => may(operation, path).value).map((name) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  );
}
