// Opens a key by its name, for a person who may use some keys and not list all.
import type { ComponentChildren } from 'preact';
import { go, hrefOf } from '../../address/router.ts';
import { may } from '../../api/may.ts';
import { typedTexts } from '../../parts/typed.ts';

const keys = '/v1/config/keystore/transit-keys';
/** Pattern of names, as in the API. */
const names = '[a-z0-9]([a-z0-9\\-]*[a-z0-9])?';

export function OpenKey(): ComponentChildren {
  const said = may('read', keys).value;
  if (typeof said !== 'object') return null;
  const open = (event: Event): void => {
    event.preventDefault();
    const [typed] = typedTexts(event.currentTarget as HTMLFormElement);
    if (typed !== undefined) go(hrefOf(`${keys}/${encodeURIComponent(typed[1])}`));
  };
  return (
    <section class="card" aria-labelledby="open-key">
      <h2 id="open-key">Open a key</h2>
      <p class="quiet">Your policies do not list the keys. One that you may use opens by its name.</p>
      <form onSubmit={open} autocomplete="off">
        <div class="field">
          <label for="key-name">Name of the key</label>
          <div class="with-button">
            <input
              id="key-name"
              name="key"
              type="text"
              required
              pattern={names}
              title="Lower-case letters, digits and hyphens"
              autocapitalize="none"
              spellcheck={false}
            />
            <button type="submit">Open</button>
          </div>
        </div>
      </form>
    </section>
  );
}
