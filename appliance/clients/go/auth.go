package keystored

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"
)

// session is a token and what is known of its life. Times are on the monotonic clock of this machine.
type session struct {
	token string
	// life is how long it lived when it was issued or renewed last; zero while it is not known, or when it has no end
	life time.Duration
	// renewAt is when half of its life is over; zero for never
	renewAt time.Time
	endsAt  time.Time
	isKnown bool
}

// begin starts a life of some seconds, counted from when the request for it was sent.
func (s session) begin(sent time.Time, seconds *int64) session {
	s.isKnown = true
	if seconds == nil {
		s.life, s.renewAt, s.endsAt = 0, time.Time{}, time.Time{}
		return s
	}
	s.life = time.Duration(*seconds) * time.Second
	s.renewAt, s.endsAt = sent.Add(s.life/2), sent.Add(s.life)
	return s
}

// again puts the next renewal to half of what is left, after one that failed.
func (s session) again(now time.Time) session {
	left := s.endsAt.Sub(now)
	if !s.isKnown || left <= 0 {
		left = 2 * time.Second
	}
	s.isKnown, s.renewAt = true, now.Add(max(left/2, time.Second))
	return s
}

func (s session) isDue(now time.Time) bool {
	return !s.isKnown || !s.renewAt.IsZero() && !now.Before(s.renewAt)
}

// authority keeps the token of a client: it logs in, learns how long the token lives, renews it, and logs in again.
type authority struct {
	link             *link
	roleID, secretID string
	workload         *Workload

	mutex   sync.Mutex
	current *session
	flight  *flight
}

// flight is one login or renewal that all callers wait for.
type flight struct {
	done  chan struct{}
	token string
	err   error
}

func newAuthority(link *link, config Config) *authority {
	made := &authority{link: link, roleID: config.RoleID, secretID: config.SecretID, workload: config.Workload}
	if config.Token != "" {
		made.current = &session{token: config.Token}
	}
	return made
}

func (a *authority) canLogIn() bool { return a.roleID != "" || a.workload != nil }

// token answers one that has not ended, as far as is known here; empty without credentials.
func (a *authority) token(ctx context.Context) (string, error) {
	a.mutex.Lock()
	if a.current == nil && !a.canLogIn() {
		a.mutex.Unlock()
		return "", nil
	}
	if a.current != nil && !a.current.isDue(time.Now()) {
		defer a.mutex.Unlock()
		return a.current.token, nil
	}
	joined := a.flight
	if joined == nil {
		joined = &flight{done: make(chan struct{})}
		a.flight = joined
		// The first caller may give up; the others go on waiting for what it started.
		go a.fly(context.WithoutCancel(ctx), joined, a.current)
	}
	a.mutex.Unlock()
	select {
	case <-joined.done:
		return joined.token, joined.err
	case <-ctx.Done():
		return "", &TransportError{Address: a.link.bases[0], Err: context.Cause(ctx)}
	}
}

// held answers the token of a login that is held now; empty for none.
func (a *authority) held() string {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.current == nil || !a.canLogIn() {
		return ""
	}
	return a.current.token
}

// forget drops a token that was refused, unless a newer one is there already. It says whether another can be had.
func (a *authority) forget(token string) bool {
	if !a.canLogIn() {
		return false
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.current != nil && a.current.token == token {
		a.current = nil
	}
	return true
}

func (a *authority) fly(ctx context.Context, mine *flight, known *session) {
	ctx, cancel, _ := a.link.withTimeLimit(ctx, false)
	defer cancel()
	next, err := a.next(ctx, known)
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if err == nil {
		a.current, mine.token = &next, next.token
	}
	mine.err, a.flight = err, nil
	close(mine.done)
}

func (a *authority) next(ctx context.Context, known *session) (session, error) {
	switch {
	case known == nil:
		return a.logIn(ctx)
	case !known.isKnown:
		return a.learn(ctx, *known)
	case !a.canLogIn():
		return a.renew(ctx, *known)
	}
	renewed, err := a.refresh(ctx, *known)
	// Near the longest life of a token a renewal gives little: a login gives a whole one.
	if err == nil && renewed.life >= known.life/2 {
		return renewed, nil
	}
	loggedIn, err := a.logIn(ctx)
	if err != nil && time.Now().Before(known.endsAt) {
		return known.again(time.Now()), nil
	}
	return loggedIn, err
}

// learn asks how long a given token lives. One that may not ask is used as it is.
func (a *authority) learn(ctx context.Context, given session) (session, error) {
	sent := time.Now()
	state, err := a.ask(ctx, opTokenInfo, given.token)
	if hasCode(err, "policy-denied") {
		return given.begin(sent, nil), nil
	}
	if err != nil {
		return given, err
	}
	learned := given.begin(sent, state.ExpiresIn)
	if state.ExpiresIn == nil {
		return learned, nil
	}
	// Its life began before now.
	if whole := state.Expires.Sub(state.CreationTime); whole > learned.life {
		learned.renewAt = learned.endsAt.Add(-whole / 2)
	}
	return learned, nil
}

// renew gives a token that cannot be had anew another life; when that fails, it is used until its end.
func (a *authority) renew(ctx context.Context, known session) (session, error) {
	renewed, err := a.refresh(ctx, known)
	if err == nil {
		return renewed, nil
	}
	if !time.Now().Before(known.endsAt) {
		// The appliance says what it thinks of the token.
		known.renewAt = time.Time{}
		return known, nil
	}
	return known.again(time.Now()), nil
}

func (a *authority) refresh(ctx context.Context, known session) (session, error) {
	sent := time.Now()
	state, err := a.ask(ctx, opTokenRefresh, known.token)
	if err != nil {
		return known, err
	}
	return known.begin(sent, state.ExpiresIn), nil
}

func (a *authority) logIn(ctx context.Context) (session, error) {
	op, document := opApproleLogin, map[string]string{"role-id": a.roleID, "secret-id": a.secretID}
	if a.workload != nil {
		var err error
		if document, err = a.workload.login(ctx); err != nil {
			return session{}, err
		}
		op = opJwtLogin
	}
	sent := time.Now()
	body, err := json.Marshal(document)
	if err != nil {
		return session{}, err
	}
	state := tokenState{}
	call := request{operation: op, url: op.path, body: body, contentType: jsonType}
	if err := a.exchange(ctx, call, &state); err != nil {
		return session{}, err
	}
	return session{token: state.Token}.begin(sent, state.ExpiresIn), nil
}

// tokenState is what the answers about tokens have in common.
type tokenState struct {
	Token        string    `json:"token"`
	ExpiresIn    *int64    `json:"expires-in"`
	CreationTime time.Time `json:"creation-time"`
	Expires      time.Time `json:"expires"`
}

func (a *authority) ask(ctx context.Context, op operation, token string) (tokenState, error) {
	state := tokenState{}
	call := request{operation: op, url: op.path, body: []byte("{}"), contentType: jsonType, token: token}
	return state, a.exchange(ctx, call, &state)
}

func (a *authority) exchange(ctx context.Context, call request, into any) error {
	answer, err := a.link.send(ctx, call)
	if err != nil {
		return err
	}
	return readJSON(answer, into)
}

// isTokenRefused says whether the token was refused, not what it may do.
func isTokenRefused(err error) bool {
	return hasCode(err, "invalid-token") || hasStatus(err, http.StatusUnauthorized)
}
