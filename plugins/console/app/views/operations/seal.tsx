// Sealing: what it ends, the word to type, and the way back, which a person with the PIN has.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { hrefOf } from '../../address/router.ts';
import { Act } from '../../forms/act.tsx';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { Heading } from '../../parts/heading.tsx';
import { ApplianceFingerprint, StartFacts } from './start-facts.tsx';

export function SealPage({ catalog, place, path }: DrawnProps): ComponentChildren {
  const isSealed = useSignal(false);
  const [entry] = place.entries;
  if (isSealed.value)
    return (
      <>
        <Heading catalog={catalog} title="The appliance is sealed" path={`${path}/done`} />
        <section class="card">
          <p>No process holds a key. Every request is answered with 503 until somebody gives the PIN.</p>
          <div class="buttons">
            <a class="button primary" href="/unseal" data-server="">
              Unseal it
            </a>
          </div>
        </section>
      </>
    );
  return (
    <>
      <Heading catalog={catalog} title="Seal" path={path}>
        <p class="quiet">
          For an emergency, or before the machine is moved: all keys leave the memory of the appliance, in less than a second.
        </p>
      </Heading>
      <section class="card">
        <ul class="reasons">
          <li>
            Requests that need a key, a token or the store are no longer answered: encryption, signatures, sign-in and enrolment stop.
          </li>
          <li>This session goes on when the appliance is unsealed, if its time is not over by then.</li>
          <li>To unseal it, somebody gives the PIN of the token: in a browser at this address, or with keystorectl.</li>
        </ul>
        {entry !== undefined && (
          <Act
            entry={entry}
            names={[]}
            does="Seal"
            confirm={{ name: 'seal', what: 'This stops every use of keys until a person gives the PIN.' }}
            onDone={() => (isSealed.value = true)}
          />
        )}
      </section>
      <StartFacts />
      <ApplianceFingerprint />
      <p>
        <a href={hrefOf(path, { do: 'ceremony' })}>Share the PIN among custodians</a>
      </p>
    </>
  );
}
