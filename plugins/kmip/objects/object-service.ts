// Interface between the messages of KMIP and the managed objects: typed values, no TTLV. Every function is a judged, counted and recorded request.
import type { ClientCertificate } from '../../../core/tls/client-certificate.ts';
import type { JsonObject } from '../../../core/wire/json.ts';
import type { KeyWrapping, Tie } from '../records/object-record.ts';
import type { Attribute, ObjectType } from '../records/object-values.ts';

/** The client entry that a certificate belongs to, as of now. */
export type KmipClient = {
  readonly tenantId: string;
  readonly tenantName: string;
  readonly name: string;
  /** drawn when the entry was made: a later entry of the name is another one */
  readonly entryId: string;
  readonly space: string;
};

export type GivenCredentials = { readonly username: string; readonly password: string };

/** One operation of a batch, by whom and from where. */
export type KmipCall = {
  readonly client: KmipClient;
  readonly certificate: ClientCertificate;
  readonly clientIp: string;
  /** name of the client program for the audit trail: `KMIP 1.4` */
  readonly userAgent: string;
  /** aborted when the client has gone, which ends a search; everything else is done as it was asked */
  readonly signal?: AbortSignal;
};

export type { Attribute, AttributeValue, ObjectType } from '../records/object-values.ts';

/** Material of an object in clear, and how it is encoded. */
export type Material = {
  readonly octets: Uint8Array;
  /** Key Format Type: Raw (1), Opaque (2), PKCS#1 (3), PKCS#8 (4), X.509 (5), EC Private Key (6); absent for certificates and opaque objects */
  readonly keyFormat?: number;
  /** Certificate Type, Secret Data Type or Opaque Data Type */
  readonly subtype?: number;
  /** it is wrapped, under a key of the client */
  readonly wrapping?: KeyWrapping;
};

export type ManagedObject = {
  readonly id: string;
  readonly objectType: ObjectType;
  readonly material: Material;
  /** Cryptographic Algorithm and Length, of keys that have them */
  readonly algorithm?: number;
  readonly length?: number;
};

/** Attributes of a new object. `templates`: names of those whose attributes it takes over, but for those that are given. */
export type GivenAttributes = { readonly attributes: readonly Attribute[]; readonly templates?: readonly string[] };

export type Locating = {
  /** all must match; two dates of one name are a range (first to last) */
  readonly attributes: readonly Attribute[];
  readonly maximumItems?: number;
  readonly offsetItems?: number;
  /** Storage Status Mask: 1 on-line, 2 archival, 4 destroyed (2.0) */
  readonly storageStatusMask?: number;
};

/** Offsets and dates of ReKey; `attributes` replace those that the new object would take over. */
export type ReKeying = { readonly id: string; readonly offsetSeconds?: number; readonly attributes: readonly Attribute[] };

export type Checking = {
  readonly id: string;
  readonly usageMask?: number;
  readonly leaseSeconds?: number;
  readonly usageLimitsCount?: string;
};

/** `wrap`: the object leaves wrapped. `encode` gives the octets to wrap: the material, or its Key Value in TTLV. */
export type Getting = {
  readonly id: string;
  /** another Key Format Type than the stored one: conversions that are not known throw `kmip-format-unsupported` */
  readonly keyFormat?: number;
  readonly wrap?: { readonly keyId: string; encode(object: ManagedObject): Uint8Array };
};

/** A use of a version of a transit key that an object is tied to, in the token. */
export type KeyUsing = {
  readonly id: string;
  /** of Cryptographic Usage Mask */
  readonly bit: number;
  /** Makes the request of the action at the key, of its version, and of the use that the key is for. */
  request(tie: Pick<Tie, 'version' | 'use' | 'cipher'>): { readonly action: string; readonly document: JsonObject };
};

/**
 * Functions throw ServiceError, whose code `resultReasonOf` maps to a Result Reason. Identifiers are uuids. An id of another space is not found.
 */
export interface ObjectService {
  /** Finds the entry of a certificate in the newest state of the store; undefined for one that is unknown, revoked or disabled. Called for every request. */
  clientOf(certificate: ClientCertificate): KmipClient | undefined;
  /**
   * Judges username and password where the entry demands them; undefined: they fit. Too many wrong ones from an address have a short password not compared
   * there any longer, until the minute is over.
   */
  judgeCredentials(
    client: KmipClient,
    given: GivenCredentials | undefined,
    clientIp: string,
  ): Promise<'kmip-credentials-wrong' | 'rate-limited' | undefined>;

  /** Makes a symmetric key; Cryptographic Algorithm (AES, 3DES, HMAC-SHA*) and Length are among the attributes. */
  create(call: KmipCall, given: GivenAttributes): Promise<{ readonly id: string }>;
  createPair(
    call: KmipCall,
    given: Readonly<Record<'common' | 'private' | 'public', GivenAttributes>>,
  ): Promise<{ readonly privateId: string; readonly publicId: string }>;
  registerTemplate(call: KmipCall, attributes: readonly Attribute[]): Promise<{ readonly id: string }>;
  register(call: KmipCall, objectType: ObjectType, material: Material, given: GivenAttributes): Promise<{ readonly id: string }>;
  get(call: KmipCall, wanted: Getting): Promise<ManagedObject>;
  /** Notes that the material of an object leaves with the answer that comes next. */
  noteLeft(call: KmipCall, id: string): Promise<void>;

  attributeNames(call: KmipCall, id: string): Promise<readonly string[]>;
  /** All, or those with one of the names; unknown names are left out. */
  attributes(call: KmipCall, id: string, names?: readonly string[]): Promise<readonly Attribute[]>;
  /** Return the attribute as it is now. */
  addAttribute(call: KmipCall, id: string, attribute: Attribute): Promise<Attribute>;
  modifyAttribute(call: KmipCall, id: string, attribute: Attribute): Promise<Attribute>;
  /** Returns what was removed. Without index: 0; `all`: every value of the name (2.0 by reference). */
  deleteAttribute(
    call: KmipCall,
    id: string,
    which: { readonly name: string; readonly index?: number; readonly all?: true },
  ): Promise<readonly Attribute[]>;

  /** `located`: how many there are; absent where the search has ended before. */
  locate(call: KmipCall, wanted: Locating): Promise<{ readonly ids: readonly string[]; readonly located?: number }>;

  activate(call: KmipCall, id: string): Promise<void>;
  /** `reason`: Revocation Reason Code. */
  revoke(
    call: KmipCall,
    id: string,
    why: { readonly reason: number; readonly message?: string; readonly compromiseOccurrence?: number },
  ): Promise<void>;
  destroy(call: KmipCall, id: string): Promise<void>;
  /** Returns the id of the new object, which has the Name of the old one. */
  reKey(call: KmipCall, wanted: ReKeying): Promise<{ readonly id: string }>;
  /** Empty: the use is allowed. Otherwise the values that forbid it, as Check answers them. */
  check(
    call: KmipCall,
    wanted: Checking,
  ): Promise<{ readonly usageMask?: number; readonly leaseSeconds?: number; readonly usageLimitsCount?: string }>;

  /**
   * Requires that the object is Active, is tied, and its mask has the bit; then sends the request to the action of its transit key, where it is judged,
   * counted and recorded as any other. Returns the answer of the action.
   */
  useKey(call: KmipCall, using: KeyUsing): Promise<Readonly<Record<string, unknown>>>;
}
