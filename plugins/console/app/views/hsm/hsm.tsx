// The tokens: whether they work, how they are, what they can do, and the rotation of their wrapping keys.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Chip, type Tone } from '../../parts/chip.tsx';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { Heading, Refresh } from '../../parts/heading.tsx';
import { useLoaded } from '../../parts/loaded.ts';
import { Loading } from '../../parts/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { visible } from '../../parts/visible.ts';
import { useRepeated } from '../../marks/repeated.ts';
import { locale, said } from '../../language/language.ts';
import { Latencies } from './latencies.tsx';
import { Mechanisms } from './mechanisms.tsx';
import { type HsmState, hsmPath, type TokenState } from './state.ts';
import { PinCard } from './pin.tsx';
import { SelfTest } from './self-test.tsx';
import { WrappingKeyCard } from './wrapping-key.tsx';

/** Time between readings while keys are being rewrapped. */
const lookEveryMs = 1_000;

export function HsmPage({ catalog }: DrawnProps): ComponentChildren {
  const turn = useSignal(0);
  const loaded = useLoaded({ method: 'GET', path: hsmPath }, turn.value).value;
  const shown = useSignal<readonly TokenState[] | undefined>(undefined);
  if (loaded.state === 'there') {
    const { tokens } = loaded.answer.body as HsmState;
    if (shown.peek() !== tokens) shown.value = tokens;
  }
  const tokens = shown.value;
  const isRewrapping = tokens?.some((token) => token['wrapping-key'].state === 'rewrapping') === true;
  useRepeated(isRewrapping, lookEveryMs, () => (turn.value += 1));
  return (
    <>
      <Heading catalog={catalog} title="HSM" path={hsmPath}>
        <p class="quiet">The PKCS#11 tokens of this appliance, as the answering worker last saw them.</p>
        <div class="buttons">
          <Refresh turn={turn} />
        </div>
      </Heading>
      {loaded.state === 'failed' && <Problem error={loaded.error} />}
      {tokens === undefined && loaded.state === 'loading' && <Loading />}
      {tokens?.map((token) => (
        <Token key={token.name} catalog={catalog} token={token} onChange={() => (turn.value += 1)} />
      ))}
      {tokens !== undefined && <SelfTest catalog={catalog} />}
    </>
  );
}

const tones: Readonly<Record<TokenState['state'], readonly [tone: Tone, word: string]>> = {
  up: ['good', said('works')],
  damaged: ['bad', said('damaged')],
  down: ['bad', 'does not answer'],
  'pin-refused': ['bad', 'refused the PIN'],
};

type TokenProps = Pick<DrawnProps, 'catalog'> & { readonly token: TokenState; readonly onChange: () => void };

function Token({ catalog, token, onChange }: TokenProps): ComponentChildren {
  const { name, state, reason, label, serial, manufacturer, model, module, sessions } = token;
  const [tone, word] = tones[state];
  return (
    <section class="group" aria-label={`Token ${visible(name)}`}>
      <h2>
        Token <bdi>{visible(name)}</bdi> <Chip tone={tone}>{word}</Chip>
      </h2>
      {reason !== undefined && <p class="notice">{visible(reason)}</p>}
      <div class="cards">
        <section class="card">
          <h3>The token</h3>
          <dl>
            {[
              { title: 'Label', text: label },
              { title: 'Serial number', text: serial },
              { title: 'Manufacturer', text: manufacturer },
              { title: 'Model', text: model },
              { title: 'Module', text: module },
            ].map(({ title, text }) => [
              <dt key={`${title}:name`}>{title}</dt>,
              <dd key={`${title}:value`}>
                <bdi>{visible(text)}</bdi>
              </dd>,
            ])}
          </dl>
        </section>
        <section class="card">
          <h3>In use</h3>
          <dl>
            <dt>Keys loaded</dt>
            <dd class="number">{token['loaded-keys'].toLocaleString(locale)}</dd>
            <dt>Sessions busy</dt>
            <dd>
              <span class="number">
                {sessions.busy.toLocaleString(locale)} of {sessions.size.toLocaleString(locale)}
              </span>
            </dd>
            <dt>Calls that wait</dt>
            <dd>{sessions.waiting === 0 ? 'none' : <Chip tone="warn">{sessions.waiting.toLocaleString(locale)}</Chip>}</dd>
          </dl>
        </section>
        <WrappingKeyCard catalog={catalog} token={token} onChange={onChange} />
        <PinCard catalog={catalog} token={token} />
      </div>
      <Latencies latencies={token.latencies} />
      <Mechanisms keyTypes={token['key-types']} mechanisms={token.mechanisms} />
    </section>
  );
}
