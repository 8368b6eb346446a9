package keystored_test

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	keystored "keystored-client"
)

// live answers how to reach the running appliance that the environment names; without one the test is skipped.
func live(t *testing.T) keystored.Config {
	t.Helper()
	address := os.Getenv("KEYSTORED_TEST_ADDRESS")
	if address == "" {
		t.Skip("KEYSTORED_TEST_ADDRESS names no appliance")
	}
	ca, err := os.ReadFile(os.Getenv("KEYSTORED_TEST_CA_FILE"))
	if err != nil {
		t.Fatal(err)
	}
	return keystored.Config{Addresses: []string{address}, CAPEM: ca, Token: os.Getenv("KEYSTORED_TEST_TOKEN")}
}

var names atomic.Int64

// freshName is one that no other test has.
func freshName() string { return fmt.Sprintf("go-%d-%d", os.Getpid(), names.Add(1)) }

func freshKey(t *testing.T, root *keystored.Client, creation keystored.TransitKeyCreation) *keystored.Key {
	t.Helper()
	creation.Name = freshName()
	if _, err := root.TransitKeys.Create(context.Background(), creation, nil); err != nil {
		t.Fatal(err)
	}
	return root.Key(creation.Name)
}

// program answers the configuration of a client with an approle of its own.
func program(t *testing.T, root *keystored.Client, creation keystored.ApproleCreation) keystored.Config {
	t.Helper()
	ctx := context.Background()
	creation.Name = freshName()
	if creation.TokenPolicies == nil {
		creation.TokenPolicies = &[]string{"user"}
	}
	if _, err := root.Approles.Create(ctx, creation, nil); err != nil {
		t.Fatal(err)
	}
	state, err := root.Approles.Show(ctx, creation.Name)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := root.Approles.GenerateSecretID(ctx, creation.Name, keystored.GenerateSecretIDRequest{})
	if err != nil {
		t.Fatal(err)
	}
	config := live(t)
	config.Token, config.RoleID, config.SecretID = "", state.RoleID, secret.SecretID
	return config
}

func accessor(t *testing.T, c *keystored.Client) string {
	t.Helper()
	info, err := c.Token.Info(context.Background(), keystored.TokenInfoRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return info.Accessor
}

func TestLiveActionsOnAKey(t *testing.T) {
	ctx, root := context.Background(), client(t, live(t))
	key := freshKey(t, root, keystored.TransitKeyCreation{Derived: keystored.Ptr(true)}).With(keystored.KeyOptions{
		Context: "tenant 7", AssociatedData: []byte("row 1"),
	})
	for _, plaintext := range [][]byte{nil, []byte("card 4711"), {0, 0xff, '<', '&'}, make([]byte, 1<<20)} {
		ciphertext, err := key.Encrypt(ctx, plaintext)
		if err != nil {
			t.Fatal(err)
		}
		rewrapped, err := key.Rewrap(ctx, ciphertext)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := key.Decrypt(ctx, rewrapped); err != nil || !bytes.Equal(got, plaintext) {
			t.Fatal(len(got), err)
		}
	}
	signer := freshKey(t, root, keystored.TransitKeyCreation{Cipher: keystored.Ptr(keystored.CipherECDSAP256)}).With(keystored.KeyOptions{Marshaling: "jws"})
	signature, err := signer.Sign(ctx, []byte("text"))
	if err != nil {
		t.Fatal(err)
	}
	for text, fits := range map[string]bool{"text": true, "texts": false} {
		if valid, err := signer.Verify(ctx, []byte(text), signature); err != nil || valid != fits {
			t.Fatal(text, valid, err)
		}
	}
	mac := freshKey(t, root, keystored.TransitKeyCreation{})
	first, err := mac.HMAC(ctx, []byte("text"))
	if second, _ := mac.HMAC(ctx, []byte("text")); err != nil || first != second || !strings.HasPrefix(first, "store:hashed:v1:") {
		t.Fatal(first, err)
	}
	if octets, err := root.Random(ctx, 33); err != nil || len(octets) != 33 {
		t.Fatal(octets, err)
	}
}

func TestLiveSignsOpenPGPOverDataThatIsHashedHere(t *testing.T) {
	ctx, root := context.Background(), client(t, live(t))
	name := freshName()
	creation := keystored.TransitKeyCreation{
		Name: name, Cipher: keystored.Ptr(keystored.CipherECDSAP384), OpenpgpUserID: keystored.Ptr("Go <go@example.org>"),
	}
	if _, err := root.TransitKeys.Create(ctx, creation, nil); err != nil {
		t.Fatal(err)
	}
	data := bytes.Repeat([]byte("much data "), 100_000)
	signature, err := root.Key(name).SignOpenPGP(ctx, bytes.NewReader(data), keystored.OpenPGPOptions{ExpiresAfter: "1y"})
	if err != nil {
		t.Fatal(err)
	}
	verdict, err := root.TransitKeys.OpenpgpVerify(ctx, name, keystored.OpenpgpVerifyRequest{
		Text: base64.StdEncoding.EncodeToString(data), Signature: keystored.Ptr(signature),
	})
	if err != nil || !verdict.Valid {
		t.Fatal(verdict, err)
	}
}

// The ten lines of the README.
func TestLiveDataKeyPattern(t *testing.T) {
	ctx := context.Background()
	key := freshKey(t, client(t, live(t)), keystored.TransitKeyCreation{})
	document := bytes.Repeat([]byte("much data "), 100_000)

	dataKey, err := key.GenerateDataKey(ctx, 256)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := aes.NewCipher(dataKey.Plaintext)
	gcm, _ := cipher.NewGCM(block)
	nonce := make([]byte, gcm.NonceSize())
	_, _ = rand.Read(nonce)
	stored := gcm.Seal(nonce, nonce, document, nil) // keep it with dataKey.Ciphertext

	opened, err := key.Decrypt(ctx, dataKey.Ciphertext)
	if err != nil {
		t.Fatal(err)
	}
	block, _ = aes.NewCipher(opened)
	gcm, _ = cipher.NewGCM(block)
	got, err := gcm.Open(nil, stored[:gcm.NonceSize()], stored[gcm.NonceSize():], nil)
	if err != nil || !bytes.Equal(got, document) {
		t.Fatal(err)
	}
}

func TestLiveRenewsTheTokenAndLogsInAgain(t *testing.T) {
	ctx, root := context.Background(), client(t, live(t))
	// Renewed within its longest life of a minute.
	renewing := client(t, program(t, root, keystored.ApproleCreation{TokenTTL: keystored.Ptr("3s"), TokenMaxTTL: keystored.Ptr("1m")}))
	first := accessor(t, renewing)
	for range [6]int{} {
		time.Sleep(time.Second)
		if now := accessor(t, renewing); now != first {
			t.Fatal("the token was not renewed but replaced")
		}
	}
	// Its longest life ends: a new login.
	replaced := client(t, program(t, root, keystored.ApproleCreation{TokenTTL: keystored.Ptr("3s"), TokenMaxTTL: keystored.Ptr("3s")}))
	first = accessor(t, replaced)
	time.Sleep(4 * time.Second)
	second := accessor(t, replaced)
	if second == first {
		t.Fatal("an ended token goes on")
	}
	// Somebody ends it.
	if err := root.Token.Disable(ctx, keystored.TokenDisableRequest{Accessor: &second}); err != nil {
		t.Fatal(err)
	}
	if third := accessor(t, replaced); third == second {
		t.Fatal("an ended token goes on")
	}
	// Logging out ends it, and the next call logs in.
	if err := replaced.LogOut(ctx); err != nil {
		t.Fatal(err)
	}
	accessor(t, replaced)
}

func TestLiveAGivenTokenLivesLonger(t *testing.T) {
	ctx, root := context.Background(), client(t, live(t))
	made, err := root.Token.Create(ctx, keystored.TokenCreateRequest{Policies: &[]string{"user"}, TTL: keystored.Ptr("3s"), MaxTTL: keystored.Ptr("1m")})
	if err != nil {
		t.Fatal(err)
	}
	config := live(t)
	config.Token = made.Token
	c := client(t, config)
	for range [5]int{} {
		accessor(t, c)
		time.Sleep(time.Second)
	}
	config.Token = "f81d4fae-7dec-41d0-a765-00a0c91e6bf6"
	if err := client(t, config).LogIn(ctx); !errors.Is(err, &keystored.Problem{Code: "invalid-token"}) {
		t.Fatal(err)
	}
	config.Token, config.RoleID, config.SecretID = "", "f81d4fae-7dec-41d0-a765-00a0c91e6bf6", "wrong"
	if err := client(t, config).LogIn(ctx); !errors.Is(err, &keystored.Problem{Status: 401}) {
		t.Fatal(err)
	}
}

func TestLiveGoesOnToTheNextAddress(t *testing.T) {
	config := live(t)
	config.Addresses = append(strings.Split(os.Getenv("KEYSTORED_TEST_AWAY_ADDRESSES"), ","), config.Addresses...)
	if len(config.Addresses) < 3 {
		t.Fatal("a dead and a sealed address are needed")
	}
	key := freshKey(t, client(t, config), keystored.TransitKeyCreation{})
	if _, err := key.Encrypt(context.Background(), []byte("x")); err != nil {
		t.Fatal(err)
	}
	// Sealed all over: the problem says so, at once.
	config.Addresses, config.MostWait = config.Addresses[:2], time.Second
	_, err := client(t, config).Key("k").Encrypt(context.Background(), nil)
	if !errors.Is(err, &keystored.Problem{Code: "sealed"}) {
		t.Fatal(err)
	}
}

func TestLiveTrustsOnlyItsCA(t *testing.T) {
	config := live(t)
	other, err := os.ReadFile(os.Getenv("KEYSTORED_TEST_OTHER_CA_FILE"))
	if err != nil {
		t.Fatal(err)
	}
	for name, ca := range map[string][]byte{"another CA": other, "those of the machine": nil} {
		config.CAPEM = ca
		_, err := client(t, config).Key("k").Encrypt(context.Background(), nil)
		var lost *keystored.TransportError
		if !errors.As(err, &lost) || lost.Sent {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

func TestLiveBatchWithItemsThatFail(t *testing.T) {
	ctx := context.Background()
	key := freshKey(t, client(t, live(t)), keystored.TransitKeyCreation{})
	items := make([]keystored.EncryptItem, 2_500)
	for index := range items {
		items[index] = keystored.EncryptItem{Plaintext: []byte(fmt.Sprint(index)), Reference: fmt.Sprint(index)}
		if index%100 == 7 {
			items[index].Context = "only derived keys take one"
		}
	}
	encrypted, err := key.EncryptBatch(ctx, items)
	if err != nil || len(encrypted) != len(items) {
		t.Fatal(len(encrypted), err)
	}
	ciphertexts := make([]keystored.DecryptItem, len(items))
	for index, result := range encrypted {
		if failed := index%100 == 7; (result.Problem != nil) != failed || failed && result.Problem.Code != "context-not-allowed" || result.Reference != fmt.Sprint(index) {
			t.Fatalf("%d: %v", index, result)
		}
		ciphertexts[index] = keystored.DecryptItem{Ciphertext: result.Value}
	}
	decrypted, err := key.DecryptBatch(ctx, ciphertexts)
	if err != nil {
		t.Fatal(err)
	}
	for index, result := range decrypted {
		if failed := index%100 == 7; (result.Problem != nil) != failed || !failed && string(result.Value) != fmt.Sprint(index) {
			t.Fatalf("%d: %v", index, result.Problem)
		}
	}
	// Every item of the request fails.
	all, err := key.DecryptBatch(ctx, []keystored.DecryptItem{{Ciphertext: "x"}, {Ciphertext: "y"}})
	if err != nil || all[0].Problem == nil || all[1].Problem == nil {
		t.Fatal(all, err)
	}
	// The request as a whole fails.
	_, err = client(t, live(t)).Key("absent").EncryptBatch(ctx, items)
	if problemOf(t, err).Code != "not-found" {
		t.Fatal(err)
	}
}

func TestLiveStreamOfManyItemsInLittleMemory(t *testing.T) {
	ctx := context.Background()
	key := freshKey(t, client(t, live(t)), keystored.TransitKeyCreation{})
	const count = 100_000
	items := make(chan keystored.EncryptItem)
	go func() {
		defer close(items)
		for index := range make([]struct{}, count) {
			items <- keystored.EncryptItem{Plaintext: []byte(fmt.Sprintf("%0200d", index))}
		}
	}()
	var most uint64
	seen := 0
	key.EncryptStream(ctx, keystored.FromChannel(ctx, items))(func(result keystored.BatchResult[string], err error) bool {
		if err != nil || result.Problem != nil {
			t.Error(err, result.Problem)
			return false
		}
		if seen++; seen%5_000 == 0 {
			runtime.GC()
			memory := runtime.MemStats{}
			runtime.ReadMemStats(&memory)
			most = max(most, memory.HeapAlloc)
		}
		return true
	})
	t.Logf("%d results, at most %d KiB in the heap", seen, most>>10)
	// All results together have 40 MB and more.
	if seen != count || most > 24<<20 {
		t.Fatalf("%d results, %d octets", seen, most)
	}
}

func TestLiveCancellation(t *testing.T) {
	key := freshKey(t, client(t, live(t)), keystored.TransitKeyCreation{})
	ctx, cancel := context.WithCancel(context.Background())
	endless := func(yield func(keystored.EncryptItem) bool) {
		for yield(keystored.EncryptItem{Plaintext: []byte("x")}) {
			continue
		}
	}
	seen := 0
	_, err := keystored.Collect(keystored.Seq[int](func(yield func(int, error) bool) {
		key.EncryptStream(ctx, endless)(func(_ keystored.BatchResult[string], err error) bool {
			if seen++; seen == 10 {
				cancel()
			}
			return yield(0, err)
		})
	}))
	if !errors.Is(err, context.Canceled) {
		t.Fatal(seen, err)
	}
}

func TestLiveProblems(t *testing.T) {
	ctx, root := context.Background(), client(t, live(t))
	key := freshKey(t, root, keystored.TransitKeyCreation{Exportable: keystored.Ptr(true)})
	small := client(t, program(t, root, keystored.ApproleCreation{TokenPolicies: &[]string{"rewrap-only"}}))
	name := freshName()
	if _, err := root.TransitKeys.Create(ctx, keystored.TransitKeyCreation{Name: name}, nil); err != nil {
		t.Fatal(err)
	}
	calls := map[string]func() error{
		"400 unsupported-cipher": func() error {
			_, err := root.TransitKeys.Create(ctx, keystored.TransitKeyCreation{Name: freshName(), Cipher: keystored.Ptr(keystored.Cipher("rot13"))}, nil)
			return err
		},
		"400 decryption-failed": func() error {
			_, err := key.Decrypt(ctx, "store:v1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
			return err
		},
		"403 policy-denied":        func() error { _, err := small.TransitKeys.List(ctx, nil); return err },
		"404 not-found":            func() error { _, err := root.Key("absent").Encrypt(ctx, nil); return err },
		"409 deletion-not-allowed": func() error { return root.TransitKeys.Delete(ctx, name, nil) },
		"409 already-exists": func() error {
			_, err := root.TransitKeys.Create(ctx, keystored.TransitKeyCreation{Name: name}, nil)
			return err
		},
		"412 precondition-failed": func() error {
			return root.TransitKeys.Merge(ctx, name, keystored.TransitKeyMerge{}, &keystored.TransitKeysMergeOptions{IfMatch: keystored.Ptr(`"stale"`)})
		},
		"413 payload-too-large": func() error { _, err := key.Encrypt(ctx, make([]byte, 4<<20)); return err },
	}
	for expected, call := range calls {
		problem := problemOf(t, call())
		if got := fmt.Sprintf("%d %s", problem.Status, problem.Code); got != expected || problem.RequestID == "" || problem.Detail == "" {
			t.Errorf("%s: %s, %+v", expected, got, problem)
		}
	}
}

func TestLiveMergeResetsNothing(t *testing.T) {
	ctx, root := context.Background(), client(t, live(t))
	approle := keystored.ApproleCreation{
		Name:            freshName(),
		TokenPolicies:   &[]string{"user"},
		TokenTTL:        keystored.Ptr("2h"),
		SecretIDNumUses: keystored.Ptr[int64](5),
	}
	if _, err := root.Approles.Create(ctx, approle, nil); err != nil {
		t.Fatal(err)
	}
	var header http.Header
	before, err := root.Approles.ShowConfig(ctx, approle.Name, keystored.AnswerHeader(&header))
	if err != nil {
		t.Fatal(err)
	}
	merge := keystored.ApproleMerge{TokenTTL: keystored.Ptr("1h")}
	options := &keystored.ApprolesMergeOptions{IfMatch: keystored.Ptr(header.Get("Etag"))}
	if err := root.Approles.Merge(ctx, approle.Name, merge, options); err != nil {
		t.Fatal(err)
	}
	after, err := root.Approles.ShowConfig(ctx, approle.Name)
	if err != nil {
		t.Fatal(err)
	}
	if after.TokenTTL != "1h" || *after.SecretIDNumUses != 5 || after.TokenMaxTTL != before.TokenMaxTTL || after.TokenPolicies[0] != "user" {
		t.Fatalf("%+v", after)
	}
	// Lists are united unless the call says otherwise; an empty one is not an absent one.
	replace := &keystored.ApprolesMergeOptions{Lists: keystored.Ptr(keystored.TenantsMergeListsReplace)}
	if err := root.Approles.Merge(ctx, approle.Name, keystored.ApproleMerge{TokenPolicies: keystored.Set([]string{})}, replace); err != nil {
		t.Fatal(err)
	}
	if after, err = root.Approles.ShowConfig(ctx, approle.Name); err != nil || len(after.TokenPolicies) != 0 || *after.SecretIDNumUses != 5 {
		t.Fatalf("%+v, %v", after, err)
	}
	// What is removed gets its default.
	if err := root.Approles.Merge(ctx, approle.Name, keystored.ApproleMerge{FixedRoleID: keystored.Remove[string]()}, nil); err != nil {
		t.Fatal(err)
	}
	// The tag is that of before: somebody else was there.
	if err := root.Approles.Merge(ctx, approle.Name, merge, options); !errors.Is(err, &keystored.Problem{Status: 412}) {
		t.Fatal(err)
	}
}

func TestLiveLists(t *testing.T) {
	ctx, root := context.Background(), client(t, live(t))
	for range [5]int{} {
		freshKey(t, root, keystored.TransitKeyCreation{})
	}
	small := &keystored.TransitKeysListOptions{Limit: keystored.Ptr[int64](2)}
	page, err := root.TransitKeys.List(ctx, small)
	if err != nil || len(page.Items) != 2 || page.Total < 5 || !page.HasNext() {
		t.Fatalf("%+v, %v", page, err)
	}
	// What the methods leave out.
	answer, err := root.Send(ctx, keystored.Request{Method: "GET", Path: "/v1/state/keystore/transit-keys", Query: url.Values{"fields": {"name"}}, Idempotent: true})
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(body), "go-") || strings.Contains(string(body), "cipher") {
		t.Fatal(string(body), err)
	}
	all, err := keystored.Collect(root.TransitKeys.ListEach(ctx, small))
	if err != nil || int64(len(all)) < page.Total {
		t.Fatal(len(all), page.Total, err)
	}
	seen := map[string]bool{}
	for _, key := range all {
		if seen[key.Name] || key.CreationTime == nil {
			t.Fatal(key.Name)
		}
		seen[key.Name] = true
	}
}

func TestLiveStreamsAndText(t *testing.T) {
	ctx, root := context.Background(), client(t, live(t))
	lines, err := keystored.Collect(root.Topics.Show(ctx, "system:audit-trail-log", &keystored.TopicsShowOptions{Limit: keystored.Ptr[int64](3)}))
	if err != nil || len(lines) != 3 || lines[0][0] != '{' {
		t.Fatal(lines, err)
	}
	metrics, err := root.Metrics.Show(ctx, nil)
	if err != nil || !strings.Contains(metrics, "keystored_") {
		t.Fatal(metrics, err)
	}
	// An endless answer ends with its reader.
	for range [2]int{} {
		root.Topics.Show(ctx, "system:audit-trail-log", &keystored.TopicsShowOptions{Follow: keystored.Ptr(true)})(func(_ json.RawMessage, err error) bool {
			if err != nil {
				t.Error(err)
			}
			return false
		})
	}
}
