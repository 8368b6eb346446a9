// A test of the tokens, and the keys in them with the attributes that the token says they have now.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Catalog } from '../../description/catalog.ts';
import { Act } from '../../forms/act.tsx';
import { DataTable, type Column } from '../../marks/data-table.tsx';
import { Chip } from '../../parts/chip.tsx';
import { visible } from '../../parts/visible.ts';
import { locale, said } from '../../language/language.ts';

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
          <Chip tone="good">works, {milliseconds.toLocaleString(locale)} ms</Chip>
        ) : (
          <Chip tone="bad">{visible(problem ?? said('failed'))}</Chip>
        )}
      </p>
      {objects.length > 0 && (
        <DataTable label={`Objects in token ${visible(name)}`} columns={columns} rows={objects} keyOf={(_, index) => index} />
      )}
    </>
  );
}

const columns: readonly Column<OwnObject>[] = [
  { head: 'Object', is: 'name', cell: ({ label }) => <code>{visible(label)}</code> },
  { head: 'Class', cell: ({ kind }) => kind },
  { head: 'Custody', cell: custodyOf },
  {
    head: 'May',
    cell: ({ uses, needless }) => (
      <>
        {uses.filter((use) => !needless.includes(use)).join(', ')}
        {needless.length > 0 && (
          <>
            {' '}
            <Chip tone="warn">also {needless.join(', ')}</Chip>
          </>
        )}
      </>
    ),
  },
];

/** Says in words what CKA_SENSITIVE, CKA_EXTRACTABLE and CKA_MODIFIABLE mean. */
function custodyOf(object: OwnObject): ComponentChildren {
  if (!object.sensitive) return <Chip tone="bad">can be read in clear</Chip>;
  const place = object.extractable ? 'can leave wrapped' : 'never leaves the token';
  return `${place}${object.modifiable ? '' : ', fixed'}`;
}
