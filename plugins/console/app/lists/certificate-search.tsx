// The text by which certificates are searched: part of a name, or a serial number.
import type { ComponentChildren } from 'preact';
import { exact } from '../parts/typed.ts';

/** `query`: of the page; the control is named `contains`, and has that as its id. */
export function CertificateSearch({ query }: { readonly query: URLSearchParams }): ComponentChildren {
  return (
    <div class="filter">
      <label for="contains">Name or serial number</label>
      <input id="contains" name="contains" type="text" maxLength={256} defaultValue={query.get('contains') ?? ''} {...exact} />
    </div>
  );
}
