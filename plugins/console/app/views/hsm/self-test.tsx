// A test of the tokens, and the keys in them with the attributes that the token says they have now.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Catalog } from '../../description/catalog.ts';
import { Act } from '../../forms/act.tsx';
import { Chip } from '../../parts/chip.tsx';
import { visible } from '../../parts/visible.ts';

type OwnObject = {
  readonly label: string;
  readonly kind: 'secret' | 'private';
  readonly sensitive: boolean;
  readonly extractable: boolean;
  readonly modifiable: boolean;
  readonly uses: readonly string[];
  readonly needless: readonly string[];
};

type Trial = {
  readonly name: string;
  readonly works: boolean;
  readonly milliseconds: number;
  readonly problem?: string;
  readonly objects: readonly OwnObject[];
};

export function SelfTest({ catalog }: { readonly catalog: Catalog }): ComponentChildren {
  const trials = useSignal<readonly Trial[] | undefined>(undefined);
  const entry = catalog.entries.find(({ path }) => path === '/v1/state/system/test-hsm');
  if (entry === undefined) return null;
  return (
    <section class="card" aria-labelledby="self-test">
      <h2 id="self-test">Self-test and custody</h2>
      <p class="quiet">
        Draws random octets, encrypts and decrypts with a key of the token, and reads the attributes of the appliance’s objects from the
        token.
      </p>
      <Act
        entry={entry}
        names={[]}
        does={trials.value === undefined ? 'Test now' : 'Test again'}
        onDone={({ body }) => (trials.value = (body as { readonly tokens: readonly Trial[] }).tokens)}
      />
      <div role="status">
        {trials.value?.map((trial) => (
          <TrialResult key={trial.name} trial={trial} />
        ))}
      </div>
    </section>
  );
}

function TrialResult({ trial: { name, works, milliseconds, problem, objects } }: { readonly trial: Trial }): ComponentChildren {
  return (
    <>
      <p class="badges">
        <bdi>{visible(name)}</bdi>
        {works ? (
          <Chip tone="good">works, {milliseconds.toLocaleString('en')} ms</Chip>
        ) : (
          <Chip tone="bad">{visible(problem ?? 'failed')}</Chip>
        )}
      </p>
      {objects.length > 0 && (
        <div class="table" role="region" tabIndex={0} aria-label={`Objects in token ${visible(name)}`}>
          <table>
            <thead>
              <tr>
                <th scope="col">Object</th>
                <th scope="col">Class</th>
                <th scope="col">Custody</th>
                <th scope="col">May</th>
              </tr>
            </thead>
            <tbody>
              {objects.map((one, index) => (
                <ObjectRow key={index} object={one} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

function ObjectRow({ object }: { readonly object: OwnObject }): ComponentChildren {
  const { label, kind, uses, needless } = object;
  return (
    <tr>
      <th scope="row">
        <code>{visible(label)}</code>
      </th>
      <td>{kind}</td>
      <td>{custodyOf(object)}</td>
      <td>
        {uses.filter((use) => !needless.includes(use)).join(', ')}
        {needless.length > 0 && (
          <>
            {' '}
            <Chip tone="warn">also {needless.join(', ')}</Chip>
          </>
        )}
      </td>
    </tr>
  );
}

/** In words what CKA_SENSITIVE, CKA_EXTRACTABLE and CKA_MODIFIABLE say. */
function custodyOf(object: OwnObject): ComponentChildren {
  if (!object.sensitive) return <Chip tone="bad">can be read in clear</Chip>;
  const place = object.extractable ? 'can leave wrapped' : 'never leaves the token';
  return `${place}${object.modifiable ? '' : ', fixed'}`;
}
