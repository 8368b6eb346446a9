// A policy as rows of rules, checked by the appliance while one types.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { fillPath } from '../../address/path.ts';
import { go, guardLeaving, hrefOf } from '../../address/router.ts';
import { may } from '../../api/may.ts';
import type { Request } from '../../api/request.ts';
import { Catalog, type Entry } from '../../description/catalog.ts';
import { makingOf } from '../../description/purposes.ts';
import { Act } from '../../forms/act.tsx';
import { makeInPlaceBy } from '../../forms/make-in-place.tsx';
import { Chip } from '../../parts/chip.tsx';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { Heading } from '../../parts/heading.tsx';
import { useLoaded, useSteady } from '../../parts/loaded.ts';
import { Loading } from '../../parts/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { visible } from '../../parts/visible.ts';
import { useChecked, type Checked } from './policy-check.ts';
import { besideRule, bodyOf, draftOf, newRule, ruleIn, type Policy, type PolicyDraft, type RuleDraft } from './policy-draft.ts';
import { EffectOfSaving } from './effect-of-saving.tsx';
import { coverOf } from './judged.ts';
import { RuleRow } from './rule-row.tsx';
import { Source } from './source.tsx';
import '../../style/access.css';
import { exact } from '../../parts/typed.ts';

const list = '/v1/config/policy/policies';

export function PolicyEditor({ catalog, place: { entries, names }, path }: DrawnProps): ComponentChildren {
  const [name] = names;
  // Steady: what was typed stays when the session ends and the person signs in again.
  const asked = name === undefined ? undefined : ({ method: 'GET', path: fillPath(`${list}/{name}`, names) } as const);
  const present = useSteady(useLoaded(asked).value);
  const save = entries.find(({ command }) => command.tree === 'config' && command.verb === (name === undefined ? 'create' : 'merge'));
  if (save === undefined) return null;
  const title = name === undefined ? makingOf(save) : `Edit ${name}`;
  return (
    <>
      <Heading catalog={catalog} title={title} path={`${path}/${name === undefined ? 'new' : 'edit'}`}>
        <p class="quiet">
          The most exact rule for a path decides; what no rule allows is refused. The appliance checks the policy while you type.{' '}
          <a href={hrefOf(path)}>Back without changes</a>
        </p>
      </Heading>
      {name !== undefined && present.state === 'loading' && <Loading />}
      {present.state === 'failed' && <Problem error={present.error} />}
      {name === undefined && <Editor catalog={catalog} save={save} names={names} draft={draftOf('', {})} />}
      {name !== undefined && present.state === 'there' && (
        <Editor
          catalog={catalog}
          save={save}
          names={names}
          draft={draftOf(name, present.answer.body as Policy)}
          etag={present.answer.headers.get('etag') ?? undefined}
        />
      )}
    </>
  );
}

makeInPlaceBy(list, function PolicyInPlace({ document, onMade }) {
  const catalog = useMemo(() => new Catalog(document), [document]);
  const save = catalog.at(list)?.entries.find(({ command }) => command.tree === 'config' && command.verb === 'create');
  return save === undefined ? null : <Editor catalog={catalog} save={save} names={[]} draft={draftOf('', {})} onMade={onMade} />;
});

type EditorProps = {
  readonly catalog: Catalog;
  readonly save: Entry;
  readonly names: readonly string[];
  readonly draft: PolicyDraft;
  readonly etag?: string | undefined;
  /** set where the editor lies over a form, which goes on with the name */
  readonly onMade?: (name: string) => void;
};

/** Long because it is one view from top to bottom. */
function Editor({ catalog, save, names, draft: present, etag: read, onMade }: EditorProps): ComponentChildren {
  // That of the policy that is edited: one that is read again after a sign-in may be another one.
  const etag = useMemo(() => read, []);
  const isNew = names.length === 0;
  const draft = useSignal<PolicyDraft>(isNew ? { ...present, rules: [newRule()] } : present);
  const isTouched = useSignal(false);
  const kept = useMemo(() => bodyOf(present).body as Policy, []);
  const { body, problems } = bodyOf(draft.value);
  const sent = isNew ? { name: draft.value.name.trim(), ...body } : body;
  const query = isNew ? undefined : { lists: 'replace' };
  const headers = etag === undefined ? undefined : { 'If-Match': etag };
  const request: Request = {
    method: save.method,
    path: fillPath(save.path, names),
    body: sent,
    ...(query && { query }),
    ...(headers && { headers }),
  };
  const lacks = isNew && draft.value.name.trim() === '' ? 'The policy has no name yet.' : problems[0];
  // A person who may not save it is told so, and nothing is asked for them.
  const isAllowed = may(save.operation['x-operation'], request.path).value === 'yes';
  const checked = useChecked(lacks === undefined && isAllowed ? request : undefined).value;
  const change = (part: Partial<PolicyDraft>): void => {
    isTouched.value = true;
    draft.value = { ...draft.value, ...part };
  };
  useEffect(() => {
    // The form below guards what was typed into it.
    if (onMade !== undefined) return undefined;
    guardLeaving(isTouched.value ? () => window.confirm('What you typed here was not saved. Leave the page?') : undefined);
    return () => guardLeaving(undefined);
  }, [isTouched.value]);
  const { rules } = draft.value;
  const changeRule = (id: number, part: Partial<RuleDraft>): void =>
    change({ rules: rules.map((rule) => (rule.id === id ? { ...rule, ...part } : rule)) });
  const paths = [...new Set(catalog.entries.map((entry) => entry.path.replaceAll(/\{[^}]+\}/g, '*')))];
  const done = (): void => {
    if (onMade !== undefined) return onMade(draft.value.name.trim());
    guardLeaving(undefined);
    const saved = isNew ? draft.value.name.trim() : (names[0] ?? '');
    go(hrefOf(`${list}/${encodeURIComponent(saved)}`));
  };
  const form = (
    <section class="card policy">
      <Act
        entry={save}
        names={names}
        query={query}
        headers={headers}
        body={sent}
        does={isNew ? 'Create' : 'Save'}
        lacks={lacks}
        onDone={done}
      >
        {isNew && (
          <div class="field">
            <label for="policy-name">Name</label>
            <input
              id="policy-name"
              type="text"
              {...exact}
              value={draft.value.name}
              onInput={(event) => change({ name: event.currentTarget.value })}
            />
          </div>
        )}
        <div class="field">
          <label for="policy-description">What it is for</label>
          <textarea
            id="policy-description"
            rows={2}
            value={draft.value.description}
            onInput={(event) => change({ description: event.currentTarget.value })}
          />
        </div>
        <datalist id="policy-paths">
          {paths.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
        <ol class="rules plain">
          {rules.map((rule, index) => (
            <RuleRow
              key={rule.id}
              rule={rule}
              number={index + 1}
              covers={coverOf(catalog, rule.path.trim())}
              said={saidOf(checked, index)}
              onChange={(part) => changeRule(rule.id, part)}
              onRemove={() => change({ rules: rules.filter(({ id }) => id !== rule.id) })}
            />
          ))}
        </ol>
        <div class="buttons">
          <button type="button" onClick={() => change({ rules: [...rules, newRule()] })}>
            Add a rule
          </button>
        </div>
        <Source
          body={body}
          onChange={(read) => {
            const { description: about, rules: given } = draftOf('', read);
            change({ description: about, rules: given });
          }}
        />
        <p role="status" class="checked">
          {lacks === undefined ? <CheckedChip checked={checked} /> : <Chip tone="quiet">not checked yet</Chip>}
        </p>
      </Act>
    </section>
  );
  return (
    <>
      {form}
      {onMade === undefined && <EffectOfSaving catalog={catalog} name={names[0]} before={kept} after={body} />}
    </>
  );
}

function CheckedChip({ checked }: { readonly checked: Checked }): ComponentChildren {
  if (checked.state === 'asking') return <Chip tone="quiet">checking …</Chip>;
  if (checked.state === 'unknown') return <Chip tone="warn">could not be checked: {visible(checked.message)}</Chip>;
  if (checked.state === 'taken')
    return checked.warnings.length === 0 ? (
      <Chip tone="good">The appliance would take this policy.</Chip>
    ) : (
      <Chip tone="warn">The appliance would take it, with a warning at the rules that are hardly meant so.</Chip>
    );
  const others = checked.findings.filter(({ info = '' }) => ruleIn(info) === undefined);
  return (
    <Chip tone="bad">
      Not yet: {visible(others.length > 0 || checked.findings.length === 0 ? checked.message : 'see the rules that are marked.')}
    </Chip>
  );
}

/** Verdict of the appliance on one rule. */
function saidOf(checked: Checked, index: number): { readonly tone: 'warn' | 'bad'; readonly text: string } | undefined {
  if (checked.state === 'refused') {
    const found = checked.findings.find(({ info = '' }) => ruleIn(info) === index);
    return found === undefined ? undefined : { tone: 'bad', text: found.message };
  }
  const warning = checked.state === 'taken' ? checked.warnings.find((one) => ruleIn(one) === index) : undefined;
  return warning === undefined ? undefined : { tone: 'warn', text: besideRule(warning) };
}
