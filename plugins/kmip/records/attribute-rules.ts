// Attributes of managed objects (KMIP 1.4 section 3, with those of 2.0 that clients send): who sets them, when they change, whether there may be several.
import type { AttributeValue } from './object-values.ts';

export type AttributeRule = {
  readonly type: AttributeValue['type'];
  /** an object may have several, each with an index */
  readonly several?: true;
  /**
   * `appliance`: clients cannot state it; `creation`: they can when the object is made, and never again; `before-active`: until the object is Active;
   * `until-over`: a date in the future, until it has come or the object has ended; `always`
   */
  readonly set: 'appliance' | 'creation' | 'before-active' | 'until-over' | 'always';
  /** clients may delete it */
  readonly removable?: true;
  /** Locate finds objects by it without a walk */
  readonly indexed?: true;
};

const of = (type: AttributeValue['type'], set: AttributeRule['set']): AttributeRule => ({ type, set });
const free = { set: 'always', removable: true } as const;

const rules: ReadonlyMap<string, AttributeRule> = new Map(
  Object.entries({
    'Unique Identifier': of('text', 'appliance'),
    Name: { type: 'structure', several: true, indexed: true, ...free },
    'Object Type': of('enumeration', 'appliance'),
    'Cryptographic Algorithm': of('enumeration', 'creation'),
    'Cryptographic Length': of('integer', 'creation'),
    'Cryptographic Parameters': { type: 'structure', several: true, ...free },
    'Cryptographic Domain Parameters': of('structure', 'creation'),
    'Certificate Type': of('enumeration', 'appliance'),
    'Certificate Length': of('integer', 'appliance'),
    'Digital Signature Algorithm': { type: 'enumeration', several: true, set: 'appliance' },
    Digest: { type: 'structure', several: true, set: 'appliance' },
    'Operation Policy Name': of('text', 'creation'),
    'Cryptographic Usage Mask': of('integer', 'creation'),
    'Lease Time': of('interval', 'appliance'),
    // Nobody counts: a limit that is not kept to is not taken.
    'Usage Limits': of('structure', 'appliance'),
    State: of('enumeration', 'appliance'),
    'Initial Date': of('date', 'appliance'),
    'Activation Date': of('date', 'before-active'),
    'Process Start Date': of('date', 'before-active'),
    'Protect Stop Date': of('date', 'until-over'),
    'Deactivation Date': of('date', 'until-over'),
    'Destroy Date': of('date', 'appliance'),
    'Compromise Occurrence Date': of('date', 'appliance'),
    'Compromise Date': of('date', 'appliance'),
    'Archive Date': of('date', 'appliance'),
    'Revocation Reason': of('structure', 'appliance'),
    'Object Group': { type: 'text', several: true, indexed: true, ...free },
    Fresh: of('boolean', 'appliance'),
    'Random Number Generator': of('structure', 'appliance'),
    Link: { type: 'structure', several: true, indexed: true, ...free },
    'Application Specific Information': { type: 'structure', several: true, indexed: true, ...free },
    'Contact Information': { type: 'text', ...free },
    'Last Change Date': of('date', 'appliance'),
    'Alternative Name': { type: 'structure', several: true, indexed: true, ...free },
    'Original Creation Date': of('date', 'creation'),
    'PKCS#12 Friendly Name': { type: 'text', ...free },
    Description: { type: 'text', ...free },
    Comment: { type: 'text', ...free },
    Sensitive: of('boolean', 'creation'),
    'Always Sensitive': of('boolean', 'appliance'),
    Extractable: of('boolean', 'creation'),
    'Never Extractable': of('boolean', 'appliance'),
  }),
);

const custom = /^[xy]-[^\p{Cc}]{1,256}$/u;

/** The rule of a name; undefined for a name that there is no attribute of. `x-…` and `y-…` are those of clients, of any type. */
export function ruleOf(name: string): AttributeRule | 'custom' | undefined {
  return rules.get(name) ?? (custom.test(name) ? 'custom' : undefined);
}

/** Tells whether clients may delete an attribute, or do not know it. */
export function canBeDeleted(name: string): boolean {
  const rule = ruleOf(name);
  return rule === undefined || rule === 'custom' || rule.removable === true;
}

/** Tells whether an attribute is a date that is not moved to an earlier time. */
export function isLaterOnly(name: string): boolean {
  const rule = ruleOf(name);
  return rule !== undefined && rule !== 'custom' && rule.set === 'until-over';
}

/** Tells whether Locate finds objects by an attribute without a walk. */
export function isIndexed(name: string): boolean {
  const rule = ruleOf(name);
  return rule === 'custom' || rule?.indexed === true;
}
