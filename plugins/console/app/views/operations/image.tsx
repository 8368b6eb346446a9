// Updates of the image: what runs, what the other slot has, whether it is on trial, and how the last update ended.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRepeated } from '../../marks/repeated.ts';
import { Chip } from '../../parts/chip.tsx';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { Heading } from '../../parts/heading.tsx';
import { useKept, useLoaded } from '../../parts/loaded.ts';
import { Loading } from '../../parts/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { visible } from '../../parts/visible.ts';
import { said } from '../../language/language.ts';

type Image = {
  readonly 'is-image': boolean;
  readonly version?: string;
  readonly slots?: readonly { readonly version: string; readonly running: boolean }[];
  readonly trial?: 'pending' | 'confirmed' | 'none';
  readonly 'last-update'?: string;
};

const lookEveryMs = 10_000;

const trials = {
  pending: ['warn', 'on trial: it stays when it serves, otherwise the version before comes back; no update is taken meanwhile'],
  confirmed: ['good', 'accepted in this start'],
  none: ['good', said('accepted')],
} as const;

export function ImagePage({ catalog, path }: DrawnProps): ComponentChildren {
  const turn = useSignal(0);
  const loaded = useLoaded({ method: 'GET', path }, turn.value).value;
  const image = useKept(loaded)?.body as Image | undefined;
  useRepeated(image?.['is-image'] === true, lookEveryMs, () => (turn.value += 1));
  return (
    <>
      <Heading catalog={catalog} title="Updates" path={path}>
        <p class="quiet">Of the whole system of the appliance, as one signed image beside the one that runs.</p>
      </Heading>
      {loaded.state === 'failed' && <Problem error={loaded.error} />}
      {image === undefined && loaded.state === 'loading' && <Loading />}
      {image !== undefined && (image['is-image'] ? <Slots image={image} /> : <NoImage />)}
    </>
  );
}

function NoImage(): ComponentChildren {
  return (
    <section class="card">
      <h2>This machine does not run the image</h2>
      <p>
        keystored was installed on a system of yours: as a package, as a container or from its sources. It is updated the way it was
        installed, and there is nothing to do here.
      </p>
    </section>
  );
}

function Slots({ image: { version = '', slots = [], trial = 'none', 'last-update': last } }: { readonly image: Image }): ComponentChildren {
  const [tone, words] = trials[trial];
  const others = slots.filter(({ running }) => !running);
  return (
    <>
      <section class="card" aria-labelledby="image-title">
        <h2 id="image-title">Versions</h2>
        <dl>
          <dt>Runs</dt>
          <dd>
            <strong>{visible(version)}</strong> <Chip tone={tone}>{words}</Chip>
          </dd>
          <dt>In the other slot</dt>
          <dd>{others.length === 0 ? <span class="quiet">nothing yet</span> : others.map((one) => visible(one.version)).join(', ')}</dd>
          <dt>Last update</dt>
          <dd>{last === undefined ? <span class="quiet">none was offered since the machine started</span> : visible(last)}</dd>
        </dl>
      </section>
      <section class="card" aria-labelledby="take-title">
        <h2 id="take-title">Take an update</h2>
        <ol class="reasons">
          <li>Put the file that ends in .update on a FAT file system labelled KEYSTOR-UPD, or a CD image labelled KEYSTORED-UPD.</li>
          <li>
            Connect it to the machine. Every key of the running version must have signed it, and every part is compared with what was
            signed, before it can be started. The result is shown here.
          </li>
          <li>
            Remove the medium and reboot. The new version is on trial until it serves; after two starts in which it does not, this one is
            back.
          </li>
        </ol>
      </section>
    </>
  );
}
