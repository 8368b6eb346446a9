// "Give an application access": what it may do with the key, the application, then policy, login and secret in one go, and what to hand over.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { fillPath } from '../../address/path.ts';
import { guardLeaving, hrefOf } from '../../address/router.ts';
import { may } from '../../api/may.ts';
import { sendAsNow, type Answer } from '../../api/request.ts';
import { CopyAsCommand } from '../../commands/copy-as-command.tsx';
import { plainInput } from '../../forms/controls/control.ts';
import { EntryPicker } from '../../forms/controls/entry-picker.tsx';
import { useUntilEnd } from '../../marks/until-end.ts';
import { Chip } from '../../parts/chip.tsx';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { Heading } from '../../parts/heading.tsx';
import { useLoaded, useSteady } from '../../parts/loaded.ts';
import { Problem } from '../../parts/problem.tsx';
import { visible } from '../../parts/visible.ts';
import { can, type KeyState } from '../keys/state.ts';
import { Bundle } from './bundle.tsx';
import { policyNameOf, prepare, stepsOf, takeSteps, type Step, type Wish } from './steps.ts';
import { usualOf, uses } from './uses.ts';
import '../../style/making.css';
import { Awaited } from '../../parts/loading.tsx';

const keys = '/v1/config/keystore/transit-keys';

export function GiveAccessPage(props: DrawnProps): ComponentChildren {
  const { catalog, place } = props;
  const [key = ''] = place.names;
  // Steady: the form keeps its fields when the session ends and the person signs in again.
  const loaded = useSteady(useLoaded({ method: 'GET', path: fillPath('/v1/state/keystore/transit-keys/{name}', [key]) }).value);
  const page = fillPath(`${keys}/{name}`, [key]);
  return (
    <>
      <Heading catalog={catalog} title={`Give an application access to ${key}`} path={`${page}/give-access`}>
        <p class="quiet">
          It gets a policy for this key alone, a login, and a secret that opens once. <a href={hrefOf(page)}>Back to the key</a>
        </p>
      </Heading>
      <Awaited loaded={loaded} />
      {loaded.state === 'there' && <Giving {...props} state={loaded.answer.body as KeyState} />}
    </>
  );
}

/** Long because it is one view from top to bottom. */
function Giving({ catalog, place, state }: DrawnProps & { readonly state: KeyState }): ComponentChildren {
  const [key = ''] = place.names;
  const possible = uses.filter(({ action }) => can(state, action));
  const actions = useSignal<readonly string[]>(usualOf(possible));
  const isThere = useSignal(false);
  const application = useSignal('');
  const openWithin = useSignal('1d');
  const done = useUntilEnd<readonly Answer[]>();
  const answers = done.value ?? [];
  const policy = useSignal('');
  const error = useSignal<unknown>(undefined);
  const isSending = useSignal(false);
  const problem = useRef<HTMLElement>(null);
  const wish: Wish = {
    key,
    actions: possible.map(({ action }) => action).filter((action) => actions.value.includes(action)),
    application: application.value.trim(),
    isThere: isThere.value,
    openWithin: openWithin.value,
  };
  const isNamed = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(wish.application);
  const hasBegun = answers.length > 0;
  const steps = isNamed ? stepsOf(catalog, wish, hasBegun ? policy.value : policyNameOf(wish)) : [];
  useEffect(() => {
    if (error.value !== undefined) problem.current?.focus();
  }, [error.value]);
  useEffect(() => {
    const isTyped = application.value !== '' && answers.length < steps.length;
    guardLeaving(isTyped ? () => window.confirm('Access was not given yet. Leave the page?') : undefined);
    return () => guardLeaving(undefined);
  }, [application.value === '', answers.length]);
  if (steps.length > 0 && answers.length === steps.length)
    return <Bundle wish={wish} isDerived={state.derived === true} opened={answers.at(-1)?.body} />;
  const lacks =
    wish.actions.length === 0
      ? 'It may do nothing yet.'
      : wish.application === ''
        ? 'The application has no name yet.'
        : isNamed
          ? steps.slice(answers.length).some(isRefused)
            ? 'A step is refused.'
            : undefined
          : 'Its name is lower-case letters, digits and hyphens inside.';
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isSending.value || lacks !== undefined) return;
    isSending.value = true;
    const before = error.value;
    error.value = undefined;
    try {
      const onDone = (answer: Answer): void => {
        done.value = [...(done.value ?? []), answer];
      };
      const flow = sendAsNow();
      if (!hasBegun) {
        const found = await prepare(wish, flow);
        policy.value = found.policy;
        if (found.isMade) onDone({ status: 200, headers: new Headers(), body: undefined });
      }
      const left = stepsOf(catalog, wish, policy.value);
      await takeSteps(left, done.value ?? [], hasBegun ? before : undefined, onDone, flow);
    } catch (thrown) {
      error.value = thrown;
    } finally {
      isSending.value = false;
    }
  };
  const toggle = (action: string, isOn: boolean): void => {
    actions.value = isOn ? [...actions.value, action] : actions.value.filter((one) => one !== action);
  };
  return (
    <section class="card making">
      <form onSubmit={(event) => void submit(event)} noValidate autocomplete="off">
        {error.value !== undefined && <Problem error={error.value} focus={problem} />}
        <fieldset class="choices" disabled={hasBegun}>
          <legend>What may it do with {visible(key)}?</legend>
          {possible.map(({ action, label }) => (
            <label key={action}>
              <input
                type="checkbox"
                checked={actions.value.includes(action)}
                onChange={(event) => toggle(action, event.currentTarget.checked)}
              />{' '}
              {label}
            </label>
          ))}
        </fieldset>
        <fieldset class="choices" disabled={hasBegun}>
          <legend>Which application?</legend>
          <label>
            <input type="radio" name="which" checked={!isThere.value} onChange={() => (isThere.value = false)} /> a new one
          </label>
          <label>
            <input type="radio" name="which" checked={isThere.value} onChange={() => (isThere.value = true)} /> one that is there
          </label>
        </fieldset>
        <ApplicationName
          name={application.value}
          isThere={isThere.value}
          isFixed={hasBegun}
          onType={(name) => (application.value = name)}
          catalog={catalog}
        />
        <div class="field">
          <label for="open-within">The link to its secret works for</label>
          <select
            id="open-within"
            value={openWithin.value}
            disabled={hasBegun}
            onChange={(event) => (openWithin.value = event.currentTarget.value)}
          >
            <option value="1h">an hour</option>
            <option value="1d">a day</option>
            <option value="7d">seven days</option>
          </select>
        </div>
        {steps.length > 0 && wish.actions.length > 0 && <Review steps={steps} done={answers.length} />}
        <div class="buttons">
          <button type="submit" class="primary" disabled={lacks !== undefined} aria-busy={isSending.value}>
            {hasBegun ? 'Go on' : 'Give access'}
          </button>
          {lacks !== undefined && <span class="quiet">{lacks}</span>}
        </div>
      </form>
    </section>
  );
}

type ApplicationNameProps = {
  readonly name: string;
  readonly isThere: boolean;
  readonly isFixed: boolean;
  readonly onType: (name: string) => void;
  readonly catalog: DrawnProps['catalog'];
};

function ApplicationName({ name, isThere, isFixed, onType, catalog }: ApplicationNameProps): ComponentChildren {
  return (
    <div class="field">
      <label for="application">Name of the application</label>
      <p class="help" id="application-help">
        {isThere ? 'It keeps what it may do already.' : 'The trail calls it so: lower-case letters, digits and hyphens.'}
      </p>
      {isThere && !isFixed ? (
        <EntryPicker
          id="application"
          help="application-help"
          resource="keystore/authentication/approles"
          document={catalog.document}
          value={name}
          onChange={onType}
        />
      ) : (
        <input
          type="text"
          {...plainInput}
          id="application"
          aria-describedby="application-help"
          disabled={isFixed}
          placeholder="for example billing"
          value={name}
          onInput={(event) => onType(event.currentTarget.value)}
        />
      )}
    </div>
  );
}

function isRefused({ entry, request }: Step): boolean {
  return typeof may(entry.operation['x-operation'], request.path).value === 'object';
}

/** Lists the steps: those to come, those that were taken, and those that policies refuse. */
function Review({ steps, done }: { readonly steps: readonly Step[]; readonly done: number }): ComponentChildren {
  return (
    <div class="review" role="group" aria-label="What comes of it">
      <ol>
        {steps.map(({ text, entry, names, request }, index) => {
          const said = may(entry.operation['x-operation'], request.path).value;
          return (
            <li key={text}>
              {visible(text)}{' '}
              {index < done ? <Chip tone="good">made</Chip> : typeof said === 'object' && <Chip tone="bad">{visible(said.no)}</Chip>}
              <CopyAsCommand commanded={{ entry, names, request, nameField: 'name', hasSecrets: false }} />
            </li>
          );
        })}
      </ol>
    </div>
  );
}
