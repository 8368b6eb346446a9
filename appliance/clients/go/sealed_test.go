package keystored

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"testing"
	"testing/iotest"
	"time"
)

type sealedVector struct {
	DataKey     string `json:"data-key"`
	Salt        string `json:"salt"`
	NoncePrefix string `json:"nonce-prefix"`
	WrappedKey  string `json:"wrapped-key"`
	Length      int    `json:"length"`
	Digest      string `json:"sha-256"`
}

// sealedVectors are the ones that all client libraries share; without them the test is skipped.
func sealedVectors(t *testing.T) []sealedVector {
	t.Helper()
	file := os.Getenv("KEYSTORED_TEST_SEALED_VECTORS")
	if file == "" {
		t.Skip("KEYSTORED_TEST_SEALED_VECTORS names no file")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var vectors []sealedVector
	if err := json.Unmarshal(text, &vectors); err != nil || len(vectors) == 0 {
		t.Fatal("no vectors", err)
	}
	return vectors
}

func octetsOfHex(t *testing.T, text string) []byte {
	t.Helper()
	octets, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return octets
}

func sealedPlaintext(length int) []byte {
	plaintext := make([]byte, length)
	for index := range plaintext {
		plaintext[index] = byte(index + 3*(index>>8) + 5*(index>>16))
	}
	return plaintext
}

func openedOf(dataKey, sealed []byte) ([]byte, error) {
	if len(sealed) < SealedHeaderBytes {
		return nil, ErrSealedData
	}
	if _, err := wrappedKeyOf(sealed[:SealedHeaderBytes]); err != nil {
		return nil, err
	}
	reader, err := openWith(bytes.NewReader(sealed[SealedHeaderBytes:]), append([]byte(nil), dataKey...), sealed[:SealedHeaderBytes])
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

func TestSealedVectors(t *testing.T) {
	for _, vector := range sealedVectors(t) {
		dataKey := octetsOfHex(t, vector.DataKey)
		key := &DataKey{Plaintext: append([]byte(nil), dataKey...), Ciphertext: vector.WrappedKey}
		plaintext := sealedPlaintext(vector.Length)
		reader, err := sealWith(iotest.HalfReader(bytes.NewReader(plaintext)), key, octetsOfHex(t, vector.Salt), octetsOfHex(t, vector.NoncePrefix))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(key.Plaintext, make([]byte, 32)) {
			t.Error("the data key was not overwritten")
		}
		sealed, err := io.ReadAll(iotest.OneByteReader(reader))
		if err != nil {
			t.Fatal(err)
		}
		if digest := sha256.Sum256(sealed); hex.EncodeToString(digest[:]) != vector.Digest {
			t.Errorf("%d octets: another result", vector.Length)
		}
		if opened, err := openedOf(dataKey, sealed); err != nil || !bytes.Equal(opened, plaintext) {
			t.Errorf("%d octets were not opened: %v", vector.Length, err)
		}
	}
}

func TestSealedDataThatWasChangedIsFound(t *testing.T) {
	dataKey := bytes.Repeat([]byte{7}, 32)
	key := &DataKey{Plaintext: append([]byte(nil), dataKey...), Ciphertext: "store:v1:AAAA"}
	reader, err := sealWith(bytes.NewReader(sealedPlaintext(3*pieceBytes)), key, make([]byte, 32), make([]byte, 7))
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	const whole = pieceBytes + tagBytes
	header, first, second, third := sealed[:SealedHeaderBytes], sealed[SealedHeaderBytes:][:whole], sealed[SealedHeaderBytes+whole:][:whole], sealed[SealedHeaderBytes+2*whole:]
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	flipped := func(at int) []byte {
		changed := append([]byte(nil), sealed...)
		changed[at] ^= 1
		return changed
	}
	for name, changed := range map[string][]byte{
		"no pieces": header, "the last piece missing": join(header, first, second), "cut off": sealed[:len(sealed)-1],
		"another order": join(header, second, first, third), "a piece twice": join(header, first, first, second, third),
		"an octet more": join(sealed, []byte{0}), "a piece more": join(sealed, third), "an empty piece more": join(sealed, make([]byte, tagBytes)),
		"salt": flipped(saltAt), "prefix": flipped(prefixAt), "commitment": flipped(commitmentAt), "length": flipped(lengthAt + 1),
		"padding": flipped(SealedHeaderBytes - 1), "magic": flipped(7), "a piece": flipped(SealedHeaderBytes + whole), "a tag": flipped(len(sealed) - 1),
	} {
		if _, err := openedOf(dataKey, changed); !errors.Is(err, ErrSealedData) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := openedOf(bytes.Repeat([]byte{8}, 32), sealed); !errors.Is(err, ErrSealedData) {
		t.Error("another data key:", err)
	}
}

func TestDataKeysAreCachedWithinTheirBounds(t *testing.T) {
	cache, err := NewDataKeyCache(DataKeyCacheConfig{MaxUses: 3, MaxAge: 50 * time.Millisecond, MaxKeys: 2})
	if err != nil {
		t.Fatal(err)
	}
	owner := &Client{}
	taken := func(name string) *DataKey {
		key, err := cache.take(owner, name)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	key := &DataKey{Plaintext: []byte{1, 2, 3}}
	cache.keep("a", key)
	kept := cache.entries["a"].Plaintext
	for use, wanted := range []bool{true, true, false} {
		if (taken("a") != nil) != wanted {
			t.Error("a key is used as often as it may be, and no more", use)
		}
	}
	if !bytes.Equal(kept, make([]byte, 3)) {
		t.Error("a key that was used up was not overwritten")
	}
	for _, name := range []string{"a", "b", "c"} {
		cache.keep(name, key)
	}
	if cache.Len() != 2 || taken("a") != nil || taken("b") == nil {
		t.Error("the key unused for longest goes first")
	}
	if _, err := cache.take(&Client{}, "b"); err == nil {
		t.Error("a cache serves one client")
	}
	time.Sleep(60 * time.Millisecond)
	if cache.Len() != 0 {
		t.Error("a key that is too old was kept")
	}
	if _, err := NewDataKeyCache(DataKeyCacheConfig{MaxUses: 1}); err == nil {
		t.Error("a cache needs bounds")
	}
}
