package keystored

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// operation is what the description says about a request, whoever sends it.
type operation struct {
	method string
	// path has a %s for each path parameter
	path string
	// idempotent operations are repeated also when the first attempt may have had its effect
	idempotent bool
	// public operations are sent without a token
	public bool
	// accept is the media type of the answer; empty where there is none
	accept string
	// partial operations answer 400 with their usual answer when every item of a batch failed
	partial bool
}

// request is one call of an operation.
type request struct {
	operation
	url         string
	query       url.Values
	header      http.Header
	body        []byte
	contentType string
	// token overrides the one of the client, for the calls that manage it
	token string
	// streamed answers are read by the caller: the time limit ends with their headers
	streamed bool
}

// link sends requests to the addresses of an appliance, with repetitions. It knows nothing of logins.
type link struct {
	client    *http.Client
	bases     []string
	timeLimit time.Duration
	attempts  int
	mostWait  time.Duration
	userAgent string
	// preferred is the index of the address that answered last
	preferred atomic.Int64
}

const (
	firstBackoff = 200 * time.Millisecond
	mostBackoff  = 5 * time.Second
)

func newLink(config Config) (*link, error) {
	bases, err := config.baseAddresses()
	if err != nil {
		return nil, err
	}
	transport, err := config.roundTripper()
	if err != nil {
		return nil, err
	}
	made := &link{
		// A redirect would carry the token elsewhere; the appliance sends none.
		client:    &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		bases:     bases,
		timeLimit: config.TimeLimit,
		attempts:  config.Attempts,
		mostWait:  config.MostWait,
		userAgent: strings.TrimSpace(config.Product + " keystored-client-go/" + Version),
	}
	if made.timeLimit == 0 {
		made.timeLimit = defaultTimeLimit
	}
	if made.attempts == 0 {
		made.attempts = defaultAttempts
	}
	if made.mostWait == 0 {
		made.mostWait = defaultMostWait
	}
	return made, nil
}

// send answers what the appliance answered; its body is the caller's to close. From status 400 up the answer is a *Problem instead.
func (l *link) send(ctx context.Context, call request) (*http.Response, error) {
	for attempt := 1; ; attempt++ {
		answer, err := l.tryEach(ctx, call)
		if err == nil {
			return answer, nil
		}
		wait, again := l.pause(err, call, attempt)
		if !again || !timeFor(ctx, wait) {
			return nil, err
		}
		if sleep(ctx, wait) != nil {
			return nil, &TransportError{Address: l.bases[0], Err: context.Cause(ctx)}
		}
	}
}

// tryEach sends the request to the addresses in turn, from the one that answered last, until one can serve it.
func (l *link) tryEach(ctx context.Context, call request) (*http.Response, error) {
	first := l.preferred.Load()
	var failure error
	for step := range l.bases {
		index := (first + int64(step)) % int64(len(l.bases))
		answer, err := l.exchange(ctx, l.bases[index], call)
		if err == nil || !isAway(err, call) {
			l.preferred.Store(index)
			return answer, err
		}
		// Where all are away, a problem says more than a refused connection.
		var problem *Problem
		if failure == nil || errors.As(err, &problem) {
			failure = err
		}
	}
	return nil, failure
}

// isAway says whether another address may serve what this one did not.
func isAway(err error, call request) bool {
	var lost *TransportError
	if errors.As(err, &lost) {
		return mayRepeat(lost, call)
	}
	var problem *Problem
	// Every address would count the same caller.
	return errors.As(err, &problem) && problem.Status != http.StatusTooManyRequests && mayRepeatAfter(problem, call)
}

// mayRepeatAfter says whether the appliance did nothing, or doing it twice does no harm. What a proxy answers tells nothing of that.
func mayRepeatAfter(problem *Problem, call request) bool {
	isOurs := problem.Code != CodeUnexpectedAnswer
	switch problem.Status {
	case http.StatusTooManyRequests:
		return isOurs || call.idempotent
	case http.StatusServiceUnavailable:
		return isOurs && problem.RetryAfter > 0 || call.idempotent
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return call.idempotent
	}
	return false
}

// mayRepeat is false for what would fail again, and for what may have had its effect and must not have it twice.
func mayRepeat(lost *TransportError, call request) bool {
	if errors.Is(lost, context.Canceled) || errors.Is(lost, context.DeadlineExceeded) || isDistrust(lost) {
		return false
	}
	return !lost.Sent || call.idempotent
}

// isDistrust says whether the other side is not who the caller trusts.
func isDistrust(err error) bool {
	var verification *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var host x509.HostnameError
	return errors.As(err, &verification) || errors.As(err, &unknown) || errors.As(err, &invalid) || errors.As(err, &host)
}

// pause says whether to send the request again, and after how long.
func (l *link) pause(err error, call request, attempt int) (time.Duration, bool) {
	if attempt >= l.attempts {
		return 0, false
	}
	backoff := min(firstBackoff<<min(attempt-1, 8), mostBackoff)
	// Half of it is left to chance, so that many callers do not come back at once.
	backoff = backoff/2 + time.Duration(rand.Int63n(int64(backoff/2)))
	var lost *TransportError
	if errors.As(err, &lost) {
		return backoff, mayRepeat(lost, call)
	}
	var problem *Problem
	if !errors.As(err, &problem) {
		return 0, false
	}
	asked := problem.RetryAfter
	if asked > l.mostWait || !mayRepeatAfter(problem, call) {
		return 0, false
	}
	if asked > 0 {
		return asked + backoff/4, true
	}
	return backoff, true
}

// exchange sends the request once to one address.
func (l *link) exchange(outer context.Context, base string, call request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(outer)
	sent := &atomic.Bool{}
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }})
	outgoing, err := http.NewRequestWithContext(traced, call.method, base+call.url, bytes.NewReader(call.body))
	if err != nil {
		cancel()
		return nil, fmt.Errorf("keystored: %w", err)
	}
	l.setHeaders(outgoing, call)
	answer, err := l.client.Do(outgoing)
	if err != nil {
		cancel()
		return nil, &TransportError{Address: base, Sent: sent.Load(), Err: causeOf(outer, err)}
	}
	answer.Body = &cancellingBody{answer.Body, cancel}
	if answer.StatusCode == http.StatusAccepted {
		return nil, asked(answer)
	}
	if answer.StatusCode >= 300 && !(call.partial && answer.StatusCode == http.StatusBadRequest && mediaType(answer) == call.accept) {
		return nil, problemOf(answer)
	}
	if call.streamed {
		return answer, nil
	}
	return answer, buffer(outer, base, answer)
}

// buffer reads the body of an answer into memory, so that an answer that breaks off counts as none.
func buffer(ctx context.Context, base string, answer *http.Response) error {
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswerBytes+1))
	if err != nil {
		return &TransportError{Address: base, Sent: true, Err: causeOf(ctx, err)}
	}
	if len(body) > mostAnswerBytes {
		return unexpected(answer.StatusCode, fmt.Sprintf("The answer has more than %d octets.", mostAnswerBytes))
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

func (l *link) setHeaders(outgoing *http.Request, call request) {
	if len(call.query) > 0 {
		outgoing.URL.RawQuery = call.query.Encode()
	}
	for name, values := range call.header {
		outgoing.Header[name] = values
	}
	if approval, ok := outgoing.Context().Value(approvalKey{}).([2]string); ok && !call.public {
		outgoing.Header.Set(approval[0], approval[1])
	}
	outgoing.Header.Set("User-Agent", l.userAgent)
	if call.accept != "" {
		outgoing.Header.Set("Accept", call.accept+", application/problem+json")
	}
	if call.contentType != "" {
		outgoing.Header.Set("Content-Type", call.contentType)
	}
	if call.token != "" {
		outgoing.Header.Set("Authorization", "Bearer "+call.token)
	}
}

// causeOf answers why the context ended, if it did; else the error without what net/http puts before it.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// cancellingBody releases the context of a request with its body.
type cancellingBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *cancellingBody) Close() error {
	err := b.ReadCloser.Close()
	b.cancel()
	return err
}

// withTimeLimit bounds a call by the limit of the client. The limit of a streamed one ends when the last function is called, with the
// headers of its answer.
func (l *link) withTimeLimit(ctx context.Context, streamed bool) (limited context.Context, cancel context.CancelFunc, lift func()) {
	over := fmt.Errorf("no answer within %s: %w", l.timeLimit, context.DeadlineExceeded)
	if l.timeLimit > 0 && !streamed {
		limited, cancel = context.WithTimeoutCause(ctx, l.timeLimit, over)
		return limited, cancel, func() {}
	}
	limited, end := context.WithCancelCause(ctx)
	if l.timeLimit < 0 {
		return limited, func() { end(context.Canceled) }, func() {}
	}
	timer := time.AfterFunc(l.timeLimit, func() { end(over) })
	return limited, func() { timer.Stop(); end(context.Canceled) }, func() { timer.Stop() }
}

func timeFor(ctx context.Context, wait time.Duration) bool {
	deadline, has := ctx.Deadline()
	return !has || time.Until(deadline) > wait
}

func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// fillPath puts the path parameters into the path. A name that would name another path is refused.
func fillPath(path string, names []string) (string, error) {
	escaped := make([]any, len(names))
	for index, name := range names {
		if name == "" || name == "." || name == ".." {
			return "", fmt.Errorf("keystored: %q cannot stand in the path %s", name, path)
		}
		escaped[index] = url.PathEscape(name)
	}
	return fmt.Sprintf(path, escaped...), nil
}

// mostAnswerBytes bounds the memory an answer can take.
const mostAnswerBytes = 256 << 20

// readJSON reads the body of an answer; one without a body leaves `into` as it is.
func readJSON(answer *http.Response, into any) error {
	body, err := io.ReadAll(answer.Body)
	if err != nil || into == nil || answer.StatusCode == http.StatusNoContent {
		return err
	}
	if mediaType(answer) != "application/json" {
		return unexpected(answer.StatusCode, "The answer is "+describe(answer)+", not JSON: it may come from a proxy.")
	}
	if err := json.Unmarshal(body, into); err != nil {
		return unexpected(answer.StatusCode, "The answer is not what the description says: "+err.Error())
	}
	return nil
}
