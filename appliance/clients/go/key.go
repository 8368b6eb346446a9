package keystored

import (
	"context"
	"errors"
)

// Key is one transit key: its actions with octets in and out, for one item, for many, and for more than fit in memory.
//
// …Batch splits the items into requests of at most 1,000 items and 3 MiB and joins the results; …Stream does the same for any number of
// items, with bounded memory. Both give a result for each item, in order; an error is that of a whole request.
type Key struct {
	client  *Client
	name    string
	options KeyOptions
}

// KeyOptions are what the actions on a key may be told; zero values leave out. The appliance refuses what does not fit an action.
type KeyOptions struct {
	// Context is that of a derived key: the same again to decrypt. An item's own wins.
	Context string
	// AssociatedData is authenticated with the ciphertext and no part of it: the same again to decrypt. An item's own wins.
	AssociatedData []byte
	// KeyVersion is the version to encrypt or sign with; zero: the one in use.
	KeyVersion int64
	// HashAlgorithm is "sha256", "sha384" or "sha512".
	HashAlgorithm string
	// Prehashed says that the data to sign or verify is the finished hash.
	Prehashed bool
	// SignatureAlgorithm is the padding of RSA signatures, "pkcs1v15" or "pss", or "ed25519ph" for an Ed25519 key.
	SignatureAlgorithm string
	// Marshaling of ECDSA signatures is "asn1" or "jws".
	Marshaling string
	// BatchesAtOnce bounds how many requests of a batch or stream are under way; zero: 4.
	BatchesAtOnce int
	// DataKeys gives Seal and Open their data keys, and keeps them; nil: each stream asks the appliance for one.
	DataKeys *DataKeyCache
}

// Key answers the transit key of this name. Nothing is sent.
func (c *Client) Key(name string) *Key { return &Key{client: c, name: name} }

// With answers the same key with options for its actions.
func (k *Key) With(options KeyOptions) *Key {
	return &Key{client: k.client, name: k.name, options: options}
}

// EncryptItem is an item of EncryptBatch and EncryptStream.
type EncryptItem struct {
	Plaintext      []byte
	Context        string
	AssociatedData []byte
	// Reference comes back with the result.
	Reference string
}

// DecryptItem is an item of DecryptBatch, RewrapBatch and their streams.
type DecryptItem struct {
	Ciphertext     string
	Context        string
	AssociatedData []byte
	// Reference comes back with the result.
	Reference string
}

// SignItem is an item of SignBatch, HMACBatch and their streams.
type SignItem struct {
	Data []byte
	// Reference comes back with the result.
	Reference string
}

// VerifyItem is an item of VerifyBatch and VerifyStream.
type VerifyItem struct {
	Data      []byte
	Signature string
	// Reference comes back with the result.
	Reference string
}

// BatchResult is what became of one item. One that failed does not stop the others.
type BatchResult[T any] struct {
	// Value is the result, unless there is a problem.
	Value T
	// Problem is why the item failed; nil when it did not.
	Problem *Problem
	// Reference is the one of the item.
	Reference string
}

// String hides the value: it may be a plaintext.
func (r BatchResult[T]) String() string {
	if r.Problem != nil {
		return "BatchResult{" + r.Problem.Error() + "}"
	}
	return "BatchResult{…}"
}

// GoString hides the value: it may be a plaintext.
func (r BatchResult[T]) GoString() string { return r.String() }

// DataKey encrypts much data where it is: keep Ciphertext with the data, and forget Plaintext after use.
type DataKey struct {
	Plaintext  []byte
	Ciphertext string
	KeyVersion int64
}

// String hides the plaintext.
func (d DataKey) String() string { return "DataKey{" + d.Ciphertext + "}" }

// GoString hides the plaintext.
func (d DataKey) GoString() string { return d.String() }

// wireItem is an item of any action, as the API has it.
type wireItem struct {
	Plaintext          *[]byte `json:"plaintext,omitempty"`
	Ciphertext         *string `json:"ciphertext,omitempty"`
	Text               *[]byte `json:"text,omitempty"`
	Signature          *string `json:"signature,omitempty"`
	Context            string  `json:"context,omitempty"`
	AssociatedData     []byte  `json:"associated-data,omitempty"`
	KeyVersion         int64   `json:"key-version,omitempty"`
	HashAlgorithm      string  `json:"hash-algorithm,omitempty"`
	Prehashed          bool    `json:"prehashed,omitempty"`
	SignatureAlgorithm string  `json:"signature-algorithm,omitempty"`
	Marshaling         string  `json:"marshaling,omitempty"`
	Reference          string  `json:"reference,omitempty"`
}

// wireResult is the answer to any action, or one result of a batch.
type wireResult struct {
	Plaintext    *[]byte `json:"plaintext"`
	Ciphertext   *string `json:"ciphertext"`
	Signature    *string `json:"signature"`
	Valid        *bool   `json:"valid"`
	HMAC         *string `json:"hmac"`
	KeyVersion   int64   `json:"key-version"`
	Status       *int64  `json:"status"`
	Code         string  `json:"code"`
	ErrorMessage string  `json:"error-message"`
	Reference    string  `json:"reference"`
}

// action is one of those that take an item or a batch of them.
type action[I, R any] struct {
	operation operation
	wire      func(I) wireItem
	read      func(wireResult) *R
}

var (
	encryption = action[EncryptItem, string]{
		opTransitKeysEncrypt,
		func(i EncryptItem) wireItem {
			return wireItem{Plaintext: octetsOf(i.Plaintext), Context: i.Context, AssociatedData: i.AssociatedData, Reference: i.Reference}
		},
		func(r wireResult) *string { return r.Ciphertext },
	}
	decryption = action[DecryptItem, []byte]{opTransitKeysDecrypt, wireOfCiphertext, func(r wireResult) *[]byte { return r.Plaintext }}
	rewrapping = action[DecryptItem, string]{opTransitKeysRewrap, wireOfCiphertext, func(r wireResult) *string { return r.Ciphertext }}
	signing    = action[SignItem, string]{
		opTransitKeysSign,
		func(i SignItem) wireItem { return wireItem{Text: octetsOf(i.Data), Reference: i.Reference} },
		func(r wireResult) *string { return r.Signature },
	}
	verification = action[VerifyItem, bool]{
		opTransitKeysVerify,
		func(i VerifyItem) wireItem {
			return wireItem{Text: octetsOf(i.Data), Signature: &i.Signature, Reference: i.Reference}
		},
		func(r wireResult) *bool { return r.Valid },
	}
	hashing = action[SignItem, string]{
		opTransitKeysHMAC,
		func(i SignItem) wireItem { return wireItem{Plaintext: octetsOf(i.Data), Reference: i.Reference} },
		func(r wireResult) *string { return r.HMAC },
	}
)

func wireOfCiphertext(i DecryptItem) wireItem {
	return wireItem{Ciphertext: &i.Ciphertext, Context: i.Context, AssociatedData: i.AssociatedData, Reference: i.Reference}
}

// octetsOf tells no octets from absent ones.
func octetsOf(octets []byte) *[]byte {
	if octets == nil {
		octets = []byte{}
	}
	return &octets
}

// complete adds the options of the key, which an item may override.
func (o KeyOptions) complete(item wireItem) wireItem {
	if item.Context == "" {
		item.Context = o.Context
	}
	if item.AssociatedData == nil {
		item.AssociatedData = o.AssociatedData
	}
	item.KeyVersion, item.HashAlgorithm, item.Prehashed = o.KeyVersion, o.HashAlgorithm, o.Prehashed
	item.SignatureAlgorithm, item.Marshaling = o.SignatureAlgorithm, o.Marshaling
	return item
}

var errNoResult = errors.New("keystored: the answer does not have the result")

func one[I, R any](ctx context.Context, k *Key, act action[I, R], item I) (R, error) {
	var none R
	answer, err := sendFor[wireResult](ctx, k.client, act.operation, parts{names: []string{k.name}, body: k.options.complete(act.wire(item))})
	if err != nil {
		return none, err
	}
	if value := act.read(*answer); value != nil {
		return *value, nil
	}
	return none, errNoResult
}

// Encrypt answers the ciphertext of the plaintext.
func (k *Key) Encrypt(ctx context.Context, plaintext []byte) (string, error) {
	return one(ctx, k, encryption, EncryptItem{Plaintext: plaintext})
}

// Decrypt answers the plaintext. Its problem is "decryption-failed" for every ciphertext that does not open, whatever the reason.
func (k *Key) Decrypt(ctx context.Context, ciphertext string) ([]byte, error) {
	return one(ctx, k, decryption, DecryptItem{Ciphertext: ciphertext})
}

// Rewrap answers the ciphertext under the newest version of the key. The plaintext stays in the appliance.
func (k *Key) Rewrap(ctx context.Context, ciphertext string) (string, error) {
	return one(ctx, k, rewrapping, DecryptItem{Ciphertext: ciphertext})
}

// Sign answers the signature of the data.
func (k *Key) Sign(ctx context.Context, data []byte) (string, error) {
	return one(ctx, k, signing, SignItem{Data: data})
}

// Verify says whether the signature fits. Use the options with which it was made.
func (k *Key) Verify(ctx context.Context, data []byte, signature string) (bool, error) {
	return one(ctx, k, verification, VerifyItem{Data: data, Signature: signature})
}

// HMAC answers the keyed hash of the data.
func (k *Key) HMAC(ctx context.Context, data []byte) (string, error) {
	return one(ctx, k, hashing, SignItem{Data: data})
}

// GenerateDataKey makes a data key of 128, 256 or 512 bits, in clear and encrypted by this key: Decrypt opens Ciphertext again.
func (k *Key) GenerateDataKey(ctx context.Context, bits int) (*DataKey, error) {
	body := struct {
		Type string `json:"type"`
		Bits int    `json:"bits"`
		wireItem
	}{"plaintext", bits, k.options.complete(wireItem{})}
	answer, err := sendFor[wireResult](ctx, k.client, opTransitKeysGenerateDataKey, parts{names: []string{k.name}, body: body})
	if err != nil {
		return nil, err
	}
	if answer.Plaintext == nil || answer.Ciphertext == nil {
		return nil, errNoResult
	}
	return &DataKey{Plaintext: *answer.Plaintext, Ciphertext: *answer.Ciphertext, KeyVersion: answer.KeyVersion}, nil
}

// EncryptBatch encrypts the items.
func (k *Key) EncryptBatch(ctx context.Context, items []EncryptItem) ([]BatchResult[string], error) {
	return Collect(k.EncryptStream(ctx, FromSlice(items)))
}

// DecryptBatch decrypts the items.
func (k *Key) DecryptBatch(ctx context.Context, items []DecryptItem) ([]BatchResult[[]byte], error) {
	return Collect(k.DecryptStream(ctx, FromSlice(items)))
}

// RewrapBatch rewraps the items.
func (k *Key) RewrapBatch(ctx context.Context, items []DecryptItem) ([]BatchResult[string], error) {
	return Collect(k.RewrapStream(ctx, FromSlice(items)))
}

// SignBatch signs the items.
func (k *Key) SignBatch(ctx context.Context, items []SignItem) ([]BatchResult[string], error) {
	return Collect(k.SignStream(ctx, FromSlice(items)))
}

// VerifyBatch verifies the items.
func (k *Key) VerifyBatch(ctx context.Context, items []VerifyItem) ([]BatchResult[bool], error) {
	return Collect(k.VerifyStream(ctx, FromSlice(items)))
}

// HMACBatch answers the keyed hashes of the items.
func (k *Key) HMACBatch(ctx context.Context, items []SignItem) ([]BatchResult[string], error) {
	return Collect(k.HMACStream(ctx, FromSlice(items)))
}

// EncryptStream encrypts the items as they come.
func (k *Key) EncryptStream(ctx context.Context, items Source[EncryptItem]) Seq[BatchResult[string]] {
	return stream(ctx, k, encryption, items)
}

// DecryptStream decrypts the items as they come.
func (k *Key) DecryptStream(ctx context.Context, items Source[DecryptItem]) Seq[BatchResult[[]byte]] {
	return stream(ctx, k, decryption, items)
}

// RewrapStream rewraps the items as they come.
func (k *Key) RewrapStream(ctx context.Context, items Source[DecryptItem]) Seq[BatchResult[string]] {
	return stream(ctx, k, rewrapping, items)
}

// SignStream signs the items as they come.
func (k *Key) SignStream(ctx context.Context, items Source[SignItem]) Seq[BatchResult[string]] {
	return stream(ctx, k, signing, items)
}

// VerifyStream verifies the items as they come.
func (k *Key) VerifyStream(ctx context.Context, items Source[VerifyItem]) Seq[BatchResult[bool]] {
	return stream(ctx, k, verification, items)
}

// HMACStream answers the keyed hashes of the items as they come.
func (k *Key) HMACStream(ctx context.Context, items Source[SignItem]) Seq[BatchResult[string]] {
	return stream(ctx, k, hashing, items)
}
