package keystored

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// SealedHeaderBytes is the length of the header of sealed data, whatever the wrapped key in it: a rewrap writes over it in place.
const SealedHeaderBytes = 1_024

const (
	pieceBytes   = 65_536
	tagBytes     = 16
	saltAt       = 8
	prefixAt     = 40
	commitmentAt = 47
	lengthAt     = 79
	wrappedAt    = 81
	sealedMagic  = "KSEALED\x01"
	sealedInfo   = "keystored sealed data 1"
)

// ErrSealedData is what errors.Is finds when data cannot be opened: it was changed, reordered, cut off or extended, its header is of other
// data, or another data key sealed it.
var ErrSealedData = errors.New("keystored: the sealed data cannot be opened")

func sealedError(format string, values ...any) error {
	return fmt.Errorf("%w: %s", ErrSealedData, fmt.Sprintf(format, values...))
}

// Seal encrypts any amount of data in constant memory, under a data key of its own: what is read from the result is a header of 1,024
// octets and then an authentic piece for each 64 KiB of source. Open of every client library reads it. Context and AssociatedData of the
// key are those of the data key.
func (k *Key) Seal(ctx context.Context, source io.Reader) (io.Reader, error) {
	dataKey, err := k.dataKeyToSeal(ctx)
	if err != nil {
		return nil, err
	}
	random := make([]byte, commitmentAt-saltAt)
	if _, err := rand.Read(random); err != nil {
		return nil, err
	}
	return sealWith(source, dataKey, random[:prefixAt-saltAt], random[prefixAt-saltAt:])
}

// sealWith overwrites the data key. Salt and prefix must be new for each stream.
func sealWith(source io.Reader, dataKey *DataKey, salt, prefix []byte) (io.Reader, error) {
	aead, commitment, err := deriveKeys(dataKey.Plaintext, salt)
	if err != nil {
		return nil, err
	}
	header := make([]byte, SealedHeaderBytes)
	copy(header, sealedMagic)
	copy(header[saltAt:], salt)
	copy(header[prefixAt:], prefix)
	copy(header[commitmentAt:], commitment)
	if err := putWrappedKey(header, dataKey.Ciphertext); err != nil {
		return nil, err
	}
	seal := func(into, nonce, octets []byte, _ uint64) ([]byte, error) {
		return aead.Seal(into, nonce, octets, header[:lengthAt]), nil
	}
	return io.MultiReader(bytes.NewReader(header), newPieces(source, pieceBytes, header, seal)), nil
}

// Open answers what was sealed. Each octet that is read is authentic and in its place. That nothing is missing is known with io.EOF, not
// before: until then, keep what came as unfinished. Errors are ErrSealedData for data that was changed, and a Problem "decryption-failed"
// when this key did not wrap the data key.
func (k *Key) Open(ctx context.Context, source io.Reader) (io.Reader, error) {
	header := make([]byte, SealedHeaderBytes)
	if count, err := io.ReadFull(source, header); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, sealedError("the header has %d octets of %d: it is cut off", count, SealedHeaderBytes)
	} else if err != nil {
		return nil, err
	}
	wrapped, err := wrappedKeyOf(header)
	if err != nil {
		return nil, err
	}
	dataKey, err := k.dataKeyToOpen(ctx, wrapped)
	if err != nil {
		return nil, err
	}
	return openWith(source, dataKey, header)
}

// openWith overwrites the data key.
func openWith(source io.Reader, dataKey, header []byte) (io.Reader, error) {
	aead, commitment, err := deriveKeys(dataKey, header[saltAt:prefixAt])
	if err != nil {
		return nil, err
	}
	if !hmac.Equal(commitment, header[commitmentAt:lengthAt]) {
		return nil, sealedError("the wrapped key of the header is not the one that sealed this: the header is of other data, or changed")
	}
	open := func(into, nonce, octets []byte, number uint64) ([]byte, error) {
		opened, err := aead.Open(into, nonce, octets, header[:lengthAt])
		if err != nil {
			return nil, sealedError("piece %d is not as it was sealed: changed, moved, cut off or extended", number)
		}
		if len(opened) == 0 && number > 1 {
			return nil, sealedError("piece %d is empty", number)
		}
		return opened, nil
	}
	return newPieces(source, pieceBytes+tagBytes, header, open), nil
}

// RewrapSealed answers the header of sealed data, its first SealedHeaderBytes octets, with the data key under the newest version of the
// key: write it over the old one.
func (k *Key) RewrapSealed(ctx context.Context, header []byte) ([]byte, error) {
	wrapped, err := wrappedKeyOf(header)
	if err != nil {
		return nil, err
	}
	if wrapped, err = k.Rewrap(ctx, wrapped); err != nil {
		return nil, err
	}
	rewrapped := make([]byte, SealedHeaderBytes)
	copy(rewrapped, header[:lengthAt])
	return rewrapped, putWrappedKey(rewrapped, wrapped)
}

func putWrappedKey(header []byte, wrapped string) error {
	if !isPrintable(wrapped) || len(wrapped) > len(header)-wrappedAt {
		return sealedError("the wrapped data key must be 1 to %d ASCII characters", len(header)-wrappedAt)
	}
	binary.BigEndian.PutUint16(header[lengthAt:], uint16(len(wrapped)))
	copy(header[wrappedAt:], wrapped)
	return nil
}

func wrappedKeyOf(header []byte) (string, error) {
	if len(header) != SealedHeaderBytes {
		return "", sealedError("the header has %d octets of %d: it is cut off", len(header), SealedHeaderBytes)
	}
	if !bytes.HasPrefix(header, []byte(sealedMagic)) {
		return "", sealedError("this is not sealed data of format 1")
	}
	end := wrappedAt + int(binary.BigEndian.Uint16(header[lengthAt:]))
	if end > len(header) || !isPrintable(string(header[wrappedAt:end])) || len(bytes.Trim(header[end:], "\x00")) > 0 {
		return "", sealedError("the header is damaged")
	}
	return string(header[wrappedAt:end]), nil
}

func isPrintable(text string) bool {
	for _, character := range []byte(text) {
		if character < '!' || character > '~' {
			return false
		}
	}
	return text != ""
}

// deriveKeys is HKDF-SHA-256 (RFC 5869) to the key of the pieces and what commits to the data key, which it overwrites.
func deriveKeys(dataKey, salt []byte) (cipher.AEAD, []byte, error) {
	defer overwrite(dataKey)
	if len(dataKey) != 32 {
		return nil, nil, sealedError("the wrapped key of the header is not a data key of 256 bits, but of %d", len(dataKey)*8)
	}
	extracted := hmacOf(salt, dataKey)
	pieceKey := hmacOf(extracted, []byte(sealedInfo), []byte{1})
	commitment := hmacOf(extracted, pieceKey, []byte(sealedInfo), []byte{2})
	defer overwrite(pieceKey)
	block, err := aes.NewCipher(pieceKey)
	if err != nil {
		return nil, nil, err
	}
	aead, err := cipher.NewGCM(block)
	return aead, commitment, err
}

func hmacOf(key []byte, parts ...[]byte) []byte {
	hash := hmac.New(sha256.New, key)
	for _, part := range parts {
		hash.Write(part)
	}
	return hash.Sum(nil)
}

func overwrite(octets []byte) {
	for index := range octets {
		octets[index] = 0
	}
}

// pieces reads a source piece by piece and gives what becomes of each.
type pieces struct {
	source io.Reader
	// buffer holds a piece and one octet more: without it, the piece is the last.
	buffer []byte
	held   int
	nonce  [12]byte
	number uint64
	made   func(into, nonce, octets []byte, number uint64) ([]byte, error)
	// rest is the part of whole that was not read.
	rest, whole []byte
	err         error
}

func newPieces(source io.Reader, size int, header []byte, made func(into, nonce, octets []byte, number uint64) ([]byte, error)) *pieces {
	p := &pieces{source: source, buffer: make([]byte, size+1), made: made}
	copy(p.nonce[:], header[prefixAt:commitmentAt])
	return p
}

// Read is that of io.Reader.
func (p *pieces) Read(into []byte) (int, error) {
	for len(p.rest) == 0 && p.err == nil {
		p.rest, p.err = p.next()
	}
	count := copy(into, p.rest)
	if p.rest = p.rest[count:]; count > 0 || len(into) == 0 {
		return count, nil
	}
	return 0, p.err
}

// next answers io.EOF with the last piece.
func (p *pieces) next() ([]byte, error) {
	count, err := io.ReadFull(p.source, p.buffer[p.held:])
	isLast := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if err != nil && !isLast {
		return nil, err
	}
	if p.number > math.MaxUint32 {
		return nil, sealedError("a stream has at most %d pieces of %d octets: seal the rest as another", uint64(math.MaxUint32)+1, pieceBytes)
	}
	binary.BigEndian.PutUint32(p.nonce[7:], uint32(p.number))
	p.number++
	octets := p.buffer[:len(p.buffer)-1]
	if isLast {
		p.nonce[11], octets = 1, p.buffer[:p.held+count]
	}
	whole, err := p.made(p.whole[:0], p.nonce[:], octets, p.number)
	if err != nil {
		return nil, err
	}
	if p.whole = whole; isLast {
		return whole, io.EOF
	}
	p.buffer[0], p.held = p.buffer[len(p.buffer)-1], 1
	return whole, nil
}
