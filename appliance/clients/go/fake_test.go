package keystored_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	keystored "keystored-client"
)

// serve starts a server of the test; it ends with the test.
func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func client(t *testing.T, config keystored.Config) *keystored.Client {
	t.Helper()
	made, err := keystored.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(made.Close)
	return made
}

func answer(w http.ResponseWriter, status int, mediaType, body string) {
	w.Header().Set("Content-Type", mediaType)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func refuse(w http.ResponseWriter, status int, code string, retryAfter string) {
	if retryAfter != "" {
		w.Header().Set("Retry-After", retryAfter)
	}
	answer(w, status, "application/problem+json", fmt.Sprintf(
		`{"type":"urn:keystore:error:%[2]s","title":"T","status":%[1]d,"detail":"D.","code":"%[2]s","request-id":"r-1","errors":[{"error-message":"m","error-info":"i"}]}`,
		status, code))
}

// deadAddress is one nobody listens on.
func deadAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	return "http://" + address
}

func problemOf(t *testing.T, err error) *keystored.Problem {
	t.Helper()
	var problem *keystored.Problem
	if !errors.As(err, &problem) {
		t.Fatalf("no problem: %v", err)
	}
	return problem
}

const ciphertext = `{"ciphertext":"store:v1:AAAA","key-version":1}`

func TestWaitsAsLongAsItIsToldAndSendsAgain(t *testing.T) {
	for _, status := range []int{429, 503} {
		var calls atomic.Int64
		at := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if calls.Add(1) == 1 {
				refuse(w, status, "busy", "1")
				return
			}
			w.WriteHeader(204)
		})
		begun := time.Now()
		// A rotation is not idempotent: the appliance said that it did nothing.
		if err := client(t, keystored.Config{Addresses: []string{at}}).TransitKeys.Rotate(context.Background(), "k"); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(begun); calls.Load() != 2 || waited < time.Second {
			t.Fatalf("%d: %d calls in %s", status, calls.Load(), waited)
		}
	}
}

func TestGivesUpWhereThePauseIsTooLong(t *testing.T) {
	var calls atomic.Int64
	at := serve(t, func(w http.ResponseWriter, r *http.Request) { calls.Add(1); refuse(w, 429, "rate-limited", "3600") })
	_, err := client(t, keystored.Config{Addresses: []string{at}}).Key("k").Encrypt(context.Background(), nil)
	if problem := problemOf(t, err); calls.Load() != 1 || problem.RetryAfter != time.Hour || problem.Code != "rate-limited" {
		t.Fatalf("%d calls, %v", calls.Load(), err)
	}
	// Nor is a pause begun that the context does not outlast.
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	at = serve(t, func(w http.ResponseWriter, r *http.Request) { refuse(w, 503, "busy", "5") })
	_, err = client(t, keystored.Config{Addresses: []string{at}}).Key("k").Encrypt(ctx, nil)
	problemOf(t, err)
}

func TestBoundsTheAttempts(t *testing.T) {
	var calls atomic.Int64
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		answer(w, 502, "text/html", "<h1>Bad gateway</h1>")
	})
	_, err := client(t, keystored.Config{Addresses: []string{at}, Attempts: 2}).Key("k").Encrypt(context.Background(), nil)
	if problem := problemOf(t, err); calls.Load() != 2 || problem.Status != 502 || problem.Code != keystored.CodeUnexpectedAnswer {
		t.Fatalf("%d calls, %v", calls.Load(), err)
	}
}

func TestSendsOnlyOnceWhatMayHaveHadItsEffect(t *testing.T) {
	breakOff := func(calls *atomic.Int64) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if calls.Add(1) > 1 {
				answer(w, 200, "application/json", ciphertext)
				return
			}
			connection, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_, _ = io.WriteString(connection, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{\"cipher")
				connection.Close()
			}
		}
	}
	var rotations, encryptions atomic.Int64
	err := client(t, keystored.Config{Addresses: []string{serve(t, breakOff(&rotations))}}).TransitKeys.Rotate(context.Background(), "k")
	var lost *keystored.TransportError
	if !errors.As(err, &lost) || !lost.Sent || rotations.Load() != 1 {
		t.Fatalf("%d rotations, %v", rotations.Load(), err)
	}
	got, err := client(t, keystored.Config{Addresses: []string{serve(t, breakOff(&encryptions))}}).Key("k").Encrypt(context.Background(), nil)
	if err != nil || got != "store:v1:AAAA" || encryptions.Load() != 2 {
		t.Fatalf("%d encryptions, %q, %v", encryptions.Load(), got, err)
	}
}

func TestGoesOnToTheNextAddress(t *testing.T) {
	var sealed, served atomic.Int64
	first := serve(t, func(w http.ResponseWriter, r *http.Request) { sealed.Add(1); refuse(w, 503, "sealed", "30") })
	second := serve(t, func(w http.ResponseWriter, r *http.Request) { served.Add(1); w.WriteHeader(204) })
	c := client(t, keystored.Config{Addresses: []string{deadAddress(t), first, second + "/"}})
	for range [3]int{} {
		if err := c.TransitKeys.Rotate(context.Background(), "k"); err != nil {
			t.Fatal(err)
		}
	}
	// It stays with the address that answers.
	if sealed.Load() != 1 || served.Load() != 3 {
		t.Fatalf("%d sealed, %d served", sealed.Load(), served.Load())
	}
	// Where all are away, the problem says why.
	err := client(t, keystored.Config{Addresses: []string{first, deadAddress(t)}, MostWait: time.Second}).TransitKeys.Rotate(context.Background(), "k")
	if !errors.Is(err, &keystored.Problem{Code: "sealed", Status: 503}) {
		t.Fatal(err)
	}
	// Another refusal is the answer, not a reason to ask elsewhere.
	served.Store(0)
	refusing := serve(t, func(w http.ResponseWriter, r *http.Request) { refuse(w, 403, "policy-denied", "") })
	err = client(t, keystored.Config{Addresses: []string{refusing, second}}).TransitKeys.Rotate(context.Background(), "k")
	if problemOf(t, err).Code != "policy-denied" || served.Load() != 0 {
		t.Fatal(err)
	}
}

func TestTellsAnswersThatAreNotTheAppliances(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"a page with status 200": func(w http.ResponseWriter, r *http.Request) { answer(w, 200, "text/html", "<h1>Log in</h1>") },
		"a page with status 403": func(w http.ResponseWriter, r *http.Request) { answer(w, 403, "text/html", "<h1>Blocked</h1>") },
		"a problem that is cut off": func(w http.ResponseWriter, r *http.Request) {
			answer(w, 400, "application/problem+json", `{"code":"inv`)
		},
		"JSON that is cut off":     func(w http.ResponseWriter, r *http.Request) { answer(w, 200, "application/json", `{"ciphertext":"st`) },
		"JSON of another type":     func(w http.ResponseWriter, r *http.Request) { answer(w, 200, "application/json", `[1]`) },
		"an answer without a type": func(w http.ResponseWriter, r *http.Request) { w.Header()["Content-Type"] = nil; w.WriteHeader(200) },
		"a redirect to somebody else": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		},
	} {
		_, err := client(t, keystored.Config{Addresses: []string{serve(t, handler)}}).Key("k").Encrypt(context.Background(), nil)
		if problemOf(t, err).Code != keystored.CodeUnexpectedAnswer {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAsksForApprovalAndSendsTheCallOnceMoreWithIt(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Approval-Reason") == "f%C3%BCr%20die%20Bank":
			answer(w, 202, "application/json", `{"id":"one","needed":2,"expires":"2026-01-02T00:00:00.000000Z","digest":"d","digest-words":"a b c d e f"}`)
		case r.Header.Get("Approval") == "one":
			answer(w, 200, "application/json", `{"key-version":1,"ciphertext":"c"}`)
		default:
			refuse(w, 403, "approval-needed", "")
		}
	})
	c := client(t, keystored.Config{Addresses: []string{url}, Token: "t"})
	encrypt := func(ctx context.Context) error {
		_, err := c.Send(ctx, keystored.Request{Method: "POST", Path: "/v1/state/keystore/transit-keys/k/export", Body: struct{}{}})
		return err
	}
	if err := encrypt(context.Background()); !errors.Is(err, &keystored.Problem{Code: "approval-needed"}) {
		t.Fatal(err)
	}
	var problem *keystored.Problem
	err := encrypt(keystored.AskApproval(context.Background(), "für die Bank"))
	if !errors.As(err, &problem) || problem.Code != keystored.CodeApprovalAsked || problem.Asked == nil || problem.Asked.Needed != 2 || problem.Asked.Words != "a b c d e f" {
		t.Fatalf("%#v", err)
	}
	if err := encrypt(keystored.WithApproval(context.Background(), problem.Asked.ID)); err != nil {
		t.Fatal(err)
	}
}

func TestReadsProblemsWhole(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, r *http.Request) { refuse(w, 400, "invalid-value", "") })
	_, err := client(t, keystored.Config{Addresses: []string{at}}).Key("k").Encrypt(context.Background(), nil)
	problem := problemOf(t, err)
	if problem.Status != 400 || problem.Detail != "D." || problem.RequestID != "r-1" || problem.Errors[0] != (keystored.ProblemItem{Message: "m", Info: "i"}) {
		t.Fatalf("%+v", problem)
	}
	if text := err.Error(); text != "keystored: invalid-value (400): D. [request r-1]" {
		t.Fatal(text)
	}
}

// logins is a server that issues tokens and accepts the last one.
type logins struct {
	mutex             sync.Mutex
	issued, refreshed int
	// ttlSeconds of new tokens, and of refreshed ones
	ttlSeconds, refreshSeconds int
	delay                      time.Duration
	revoked, refusing          bool
	bodies                     []string
}

func (l *logins) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	switch {
	case r.URL.Path == "/v1/approle-login" || r.URL.Path == "/v1/jwt-login":
		body, _ := io.ReadAll(r.Body)
		l.bodies = append(l.bodies, string(body))
		time.Sleep(l.delay)
		if l.refusing {
			refuse(w, 401, "login-failed", "")
			return
		}
		l.issued++
		l.revoked = false
		answer(w, 200, "application/json", fmt.Sprintf(`{"token":"t-%d","expires-in":%d}`, l.issued, l.ttlSeconds))
	case l.revoked || r.Header.Get("Authorization") != fmt.Sprintf("Bearer t-%d", l.issued):
		refuse(w, 401, "invalid-token", "")
	case strings.HasSuffix(r.URL.Path, "/token/refresh"):
		time.Sleep(l.delay)
		l.refreshed++
		answer(w, 200, "application/json", fmt.Sprintf(`{"expires-in":%d}`, l.refreshSeconds))
	default:
		answer(w, 200, "application/json", ciphertext)
	}
}

func (l *logins) counts() [2]int {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return [2]int{l.issued, l.refreshed}
}

func encryptAtOnce(t *testing.T, c *keystored.Client, callers int) {
	t.Helper()
	var group sync.WaitGroup
	for range make([]int, callers) {
		group.Add(1)
		go func() {
			defer group.Done()
			if _, err := c.Key("k").Encrypt(context.Background(), []byte("x")); err != nil {
				t.Error(err)
			}
		}()
	}
	group.Wait()
}

func TestAHundredCallersShareOneLoginAndOneRenewal(t *testing.T) {
	server := &logins{ttlSeconds: 8, refreshSeconds: 3_600, delay: 100 * time.Millisecond}
	c := client(t, keystored.Config{Addresses: []string{serve(t, server.ServeHTTP)}, RoleID: "r", SecretID: "s"})
	encryptAtOnce(t, c, 100)
	if counts := server.counts(); counts != [2]int{1, 0} {
		t.Fatal(counts)
	}
	time.Sleep(4_100 * time.Millisecond)
	encryptAtOnce(t, c, 100)
	if counts := server.counts(); counts != [2]int{1, 1} {
		t.Fatal(counts)
	}
	// One login for all whose token was refused.
	server.mutex.Lock()
	server.revoked = true
	server.mutex.Unlock()
	encryptAtOnce(t, c, 100)
	if counts := server.counts(); counts != [2]int{2, 1} {
		t.Fatal(counts)
	}
}

func TestLogsInWhereARenewalGivesLittle(t *testing.T) {
	server := &logins{ttlSeconds: 2, refreshSeconds: 0}
	c := client(t, keystored.Config{Addresses: []string{serve(t, server.ServeHTTP)}, RoleID: "r", SecretID: "s"})
	encryptAtOnce(t, c, 1)
	time.Sleep(1_100 * time.Millisecond)
	encryptAtOnce(t, c, 1)
	if counts := server.counts(); counts != [2]int{2, 1} {
		t.Fatal(counts)
	}
}

func TestAWorkloadLogsInWithWhatTheFileHasThen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("first\n")
	server := &logins{ttlSeconds: 3, refreshSeconds: 0}
	workload := &keystored.Workload{Tenant: "acme", Role: "deploy", Issuer: "cluster", JWT: keystored.JWTFromFile(path)}
	c := client(t, keystored.Config{Addresses: []string{serve(t, server.ServeHTTP)}, Workload: workload})
	encryptAtOnce(t, c, 3)
	// While the file is bad, or the login is refused, the earlier token is used.
	write("")
	time.Sleep(1_600 * time.Millisecond)
	encryptAtOnce(t, c, 1)
	write("second")
	time.Sleep(1_600 * time.Millisecond)
	encryptAtOnce(t, c, 1)
	body := func(jwt string) string {
		return fmt.Sprintf(`{"issuer":"cluster","jwt":"%s","role":"deploy","tenant":"acme"}`, jwt)
	}
	if want := []string{body("first"), body("second")}; !slices.Equal(server.bodies, want) {
		t.Fatal(server.bodies)
	}
	write("")
	server.mutex.Lock()
	server.revoked = true
	server.mutex.Unlock()
	if _, err := c.Key("k").Encrypt(context.Background(), nil); err == nil || !strings.Contains(err.Error(), path+" holds no token") {
		t.Fatal(err)
	}
	server.refusing = true
	t.Setenv("KEYSTORED_JWT", "third")
	workload.JWT = keystored.JWTFromEnvironment("KEYSTORED_JWT")
	if _, err := c.Key("k").Encrypt(context.Background(), nil); problemOf(t, err).Code != "login-failed" {
		t.Fatal(err)
	}
}

func TestARefusedTokenIsReplacedOnce(t *testing.T) {
	var logins, calls atomic.Int64
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/approle-login" {
			answer(w, 200, "application/json", fmt.Sprintf(`{"token":"t-%d","expires-in":600}`, logins.Add(1)))
			return
		}
		calls.Add(1)
		refuse(w, 401, "invalid-token", "")
	})
	_, err := client(t, keystored.Config{Addresses: []string{at}, RoleID: "r", SecretID: "s"}).Key("k").Encrypt(context.Background(), nil)
	if problemOf(t, err).Status != 401 || logins.Load() != 2 || calls.Load() != 2 {
		t.Fatalf("%d logins, %d calls, %v", logins.Load(), calls.Load(), err)
	}
}

func TestACallerThatGivesUpLeavesTheLoginToTheOthers(t *testing.T) {
	server := &logins{ttlSeconds: 600, delay: 300 * time.Millisecond}
	c := client(t, keystored.Config{Addresses: []string{serve(t, server.ServeHTTP)}, RoleID: "r", SecretID: "s"})
	ctx, cancel := context.WithCancel(context.Background())
	first := make(chan error, 1)
	go func() {
		_, err := c.Key("k").Encrypt(ctx, nil)
		first <- err
	}()
	time.Sleep(50 * time.Millisecond)
	cancel()
	encryptAtOnce(t, c, 1)
	if err := <-first; !errors.Is(err, context.Canceled) || server.counts() != [2]int{1, 0} {
		t.Fatal(err, server.counts())
	}
}

func TestAGivenTokenIsRenewedAndUsedToItsEnd(t *testing.T) {
	var refreshed atomic.Int64
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/token/info"):
			answer(w, 200, "application/json", `{"expires-in":2,"creation-time":"2026-01-01T00:00:00.000000Z","expires":"2026-01-01T00:00:02Z"}`)
		case strings.HasSuffix(r.URL.Path, "/token/refresh"):
			refreshed.Add(1)
			refuse(w, 403, "policy-denied", "")
		default:
			answer(w, 200, "application/json", ciphertext)
		}
	})
	c := client(t, keystored.Config{Addresses: []string{at}, Token: "t"})
	for range [2]int{} {
		encryptAtOnce(t, c, 1)
		time.Sleep(1_100 * time.Millisecond)
	}
	encryptAtOnce(t, c, 1)
	if refreshed.Load() == 0 {
		t.Fatal("it was never renewed")
	}
}

func TestEndsWithTheContextAndWithTheTimeLimit(t *testing.T) {
	release := make(chan struct{})
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	defer close(release)
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := client(t, keystored.Config{Addresses: []string{at}}).Key("k").Encrypt(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	limited := client(t, keystored.Config{Addresses: []string{at}, TimeLimit: 50 * time.Millisecond})
	if _, err := limited.Key("k").Encrypt(context.Background(), nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	if _, err := limited.System.Backup(context.Background(), keystored.SystemBackupRequest{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
}

func TestReadsAStreamLongerThanTheTimeLimit(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		for index := range [3]int{} {
			fmt.Fprintf(w, "{\"n\":%d}\n", index)
			w.(http.Flusher).Flush()
			time.Sleep(100 * time.Millisecond)
		}
	})
	c := client(t, keystored.Config{Addresses: []string{at}, TimeLimit: 200 * time.Millisecond})
	lines, err := keystored.Collect(c.Topics.Show(context.Background(), "system:logs", nil))
	if err != nil || len(lines) != 3 || string(lines[2]) != "{\"n\":2}\n" {
		t.Fatal(lines, err)
	}
}

func TestFollowsTheLinksOfATopicInTheOrderOfTime(t *testing.T) {
	for _, direction := range []string{"since", "before"} {
		var asked []string
		at := serve(t, func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.URL.RequestURI())
			w.Header().Set("Content-Type", "application/x-ndjson")
			if part := len(asked); part < 3 {
				w.Header().Set("Link", fmt.Sprintf(`</v1/state/topics/system:logs?who=ada&%s=t%d>; rel="next"`, direction, part))
			}
			fmt.Fprintf(w, "{\"part\":%[1]d}\n{\"part\":%[1]d}\n", len(asked))
		})
		topics := client(t, keystored.Config{Addresses: []string{at}}).Topics
		lines, err := keystored.Collect(topics.Show(context.Background(), "system:logs", nil))
		wanted := map[string]string{"since": "112233", "before": "332211"}[direction]
		found := ""
		for _, line := range lines {
			found += strings.TrimSuffix(strings.TrimPrefix(string(line), `{"part":`), "}\n")
		}
		second := fmt.Sprintf("/v1/state/topics/system:logs?%s=t1&who=ada", direction)
		if err != nil || found != wanted || len(asked) != 3 || asked[1] != second {
			t.Fatal(found, asked, err)
		}
		asked = nil
		topics.Show(context.Background(), "system:logs", nil)(func(json.RawMessage, error) bool { return false })
		if direction == "since" && len(asked) != 1 {
			t.Fatal("a walk that is left asks for no more")
		}
	}
}

func TestSendsWhatWasNamedAndNothingElse(t *testing.T) {
	var body, path, agent, query string
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		octets, _ := io.ReadAll(r.Body)
		body, path, query, agent = string(octets), r.URL.EscapedPath(), r.URL.RawQuery, r.UserAgent()
		w.WriteHeader(204)
	})
	c := client(t, keystored.Config{Addresses: []string{at}, Product: "billing/2.1"})
	merge := keystored.TransitKeyMerge{DeletionAllowed: keystored.Ptr(false), OpenpgpUserID: keystored.Set("a & <b>"), OpenpgpKeyUsage: keystored.Remove[[]keystored.TransitKeyOpenpgpKeyUsageItem]()}
	if err := c.TransitKeys.Merge(context.Background(), "a/b c", merge, nil); err != nil {
		t.Fatal(err)
	}
	if body != `{"deletion-allowed":false,"openpgp-user-id":"a & <b>","openpgp-key-usage":null}` || path != "/v1/config/keystore/transit-keys/a%2Fb%20c" || query != "" {
		t.Fatal(body, path, query)
	}
	if agent != "billing/2.1 keystored-client-go/"+keystored.Version {
		t.Fatal(agent)
	}
	for _, name := range []string{"", ".", ".."} {
		if err := c.TransitKeys.Merge(context.Background(), name, merge, nil); err == nil || body == "" {
			t.Fatalf("%q went through", name)
		}
	}
}

func TestFollowsThePages(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		after := r.URL.Query().Get("after")
		w.Header().Set("Total-Count", "3")
		switch after {
		case "":
			w.Header().Set("Link", `</docs>; rel="help", </v1/state/keystore/transit-keys?after=b%20c&limit=2>; rel="next"`)
			answer(w, 200, "application/json", `[{"name":"a"},{"name":"b c"}]`)
		case "b c":
			answer(w, 200, "application/json", `[{"name":"d"}]`)
		default:
			refuse(w, 400, "invalid-value", "")
		}
	})
	c := client(t, keystored.Config{Addresses: []string{at}})
	page, err := c.TransitKeys.List(context.Background(), nil)
	if err != nil || page.Total != 3 || !page.HasNext() || page.After != "b c" {
		t.Fatal(page, err)
	}
	keys, err := keystored.Collect(c.TransitKeys.ListEach(context.Background(), nil))
	if err != nil || len(keys) != 3 || keys[2].Name != "d" {
		t.Fatal(keys, err)
	}
}

func TestJoinsTheResultsOfABatch(t *testing.T) {
	var sizes []int
	var mutex sync.Mutex
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body := struct {
			Items []map[string]string `json:"batch-input"`
		}{}
		_ = json.NewDecoder(r.Body).Decode(&body)
		mutex.Lock()
		sizes = append(sizes, len(body.Items))
		mutex.Unlock()
		if !strings.HasSuffix(r.URL.Path, "/encrypt-batch") || r.ContentLength > 4<<20 {
			refuse(w, 413, "payload-too-large", "")
			return
		}
		results := make([]map[string]any, len(body.Items))
		for index, item := range body.Items {
			results[index] = map[string]any{"ciphertext": "store:v1:" + item["plaintext"], "reference": item["reference"]}
			if item["context"] == "bad" {
				results[index] = map[string]any{"status": 400, "code": "context-not-allowed", "error-message": "No.", "reference": item["reference"]}
			}
		}
		encoded, _ := json.Marshal(map[string]any{"batch-results": results})
		// As the appliance does when every item failed.
		status := 200
		if len(body.Items) == 1 {
			status = 400
		}
		answer(w, status, "application/json", string(encoded))
	})
	key := client(t, keystored.Config{Addresses: []string{at}}).Key("k")
	one, err := key.EncryptBatch(context.Background(), []keystored.EncryptItem{{Context: "bad", Reference: "row 1"}})
	if err != nil || one[0].Problem.Code != "context-not-allowed" || one[0].Problem.Status != 400 || one[0].Reference != "row 1" {
		t.Fatal(one, err)
	}
	// Two items of 1.5 MiB do not fit in a request, and one of 4 MiB is its own fault.
	large := make([]byte, 1_500_000)
	sizes = nil
	results, err := key.With(keystored.KeyOptions{BatchesAtOnce: 1}).EncryptBatch(context.Background(),
		[]keystored.EncryptItem{{Plaintext: large}, {Plaintext: large}, {Plaintext: make([]byte, 3<<20)}, {Plaintext: nil}, {Plaintext: []byte("x")}})
	if err != nil || len(results) != 5 || results[2].Problem.Code != "payload-too-large" || results[4].Value != "store:v1:eA==" || results[3].Value != "store:v1:" {
		t.Fatal(len(results), err)
	}
	if fmt.Sprint(sizes) != "[1 1 1 2]" {
		t.Fatal(sizes)
	}
}

func TestAStreamStopsWithItsReader(t *testing.T) {
	var calls atomic.Int64
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body := struct {
			Items []any `json:"batch-input"`
		}{}
		_ = json.NewDecoder(r.Body).Decode(&body)
		calls.Add(1)
		answer(w, 200, "application/json", `{"batch-results":[`+strings.Repeat(ciphertext+",", len(body.Items)-1)+ciphertext+`]}`)
	})
	key := client(t, keystored.Config{Addresses: []string{at}}).Key("k")
	var taken atomic.Int64
	ended := make(chan struct{})
	endless := func(yield func(keystored.EncryptItem) bool) {
		defer close(ended)
		for yield(keystored.EncryptItem{Plaintext: []byte("x")}) {
			taken.Add(1)
		}
	}
	read := 0
	key.EncryptStream(context.Background(), endless)(func(keystored.BatchResult[string], error) bool {
		read++
		if read == 1 {
			// Whoever does not read lets nothing pile up.
			time.Sleep(300 * time.Millisecond)
			if ahead := taken.Load(); ahead > 6_000 {
				t.Errorf("%d items were taken before one was read", ahead)
			}
		}
		return read < 2_500
	})
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("the source runs on")
	}
	if calls.Load() > 9 {
		t.Fatalf("%d requests for 2,500 results", calls.Load())
	}
}

func TestHidesSecretsAndRefusesWhatCannotBeMeant(t *testing.T) {
	config := keystored.Config{Addresses: []string{"https://h"}, RoleID: "role", SecretID: "topsecret", Token: "topsecret"}
	data := keystored.DataKey{Plaintext: []byte("topsecret"), Ciphertext: "c"}
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(format, config) + fmt.Sprintf(format, &data) + fmt.Sprintf(format, keystored.BatchResult[string]{Value: "topsecret"}); strings.Contains(text, "topsecret") {
			t.Errorf("%s shows %s", format, text)
		}
	}
	for name, wrong := range map[string]keystored.Config{
		"no address":      {},
		"both":            config,
		"half an approle": {Addresses: []string{"https://h"}, RoleID: "r"},
		"half a workload": {Addresses: []string{"https://h"}, Workload: &keystored.Workload{Tenant: "t", Role: "r"}},
		"two identities": {
			Addresses: []string{"https://h"}, Token: "t",
			Workload: &keystored.Workload{Tenant: "t", Role: "r", JWT: keystored.JWTFromEnvironment("X")},
		},
		"http elsewhere":   {Addresses: []string{"http://keys.example"}},
		"another scheme":   {Addresses: []string{"ftp://h"}},
		"no scheme":        {Addresses: []string{"keys.example:4646"}},
		"a password":       {Addresses: []string{"https://u:p@h"}},
		"no PEM":           {Addresses: []string{"https://h"}, CAPEM: []byte("x")},
		"token of a file":  {Addresses: []string{"https://h"}, Token: "t\n"},
		"attempts below 0": {Addresses: []string{"https://h"}, Attempts: -1},
	} {
		if _, err := keystored.New(wrong); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
