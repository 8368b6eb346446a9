// Judges a history of the drill: whether some order of the observations of each object agrees with their times and with each other. Reads one
// observation a line (observations.ts), writes one verdict as JSON.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"math"
	"os"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

// What an answer says of the state it was made in, and of the one it leaves. Times in microseconds.
type observation struct {
	Object string `json:"object"`
	Text   string `json:"text"`
	Call   int64  `json:"call"`
	// Absent: nobody knows when it ended.
	Return *int64 `json:"return"`
	// The state was this one, was not this one, was above this one.
	From  *int `json:"from"`
	Not   *int `json:"not"`
	Above *int `json:"above"`
	// It became this one, or more by so many.
	To *int `json:"to"`
	By int  `json:"by"`
	// Perhaps it never happened.
	Maybe bool `json:"maybe"`
}

type illegal struct {
	Object string `json:"object"`
	// How many of all have an order at most.
	Ordered int      `json:"ordered"`
	All     []string `json:"all"`
}

type verdict struct {
	Objects      int       `json:"objects"`
	Observations int       `json:"observations"`
	Illegal      []illegal `json:"illegal"`
	Undecided    []string  `json:"undecided"`
}

const perObject = time.Minute

var object = porcupine.NondeterministicModel{
	Init: func() []interface{} { return []interface{}{0} },
	Step: func(state, input, _ interface{}) []interface{} {
		now, seen := state.(int), input.(observation)
		holds := (seen.From == nil || now == *seen.From) && (seen.Not == nil || now != *seen.Not) && (seen.Above == nil || now > *seen.Above)
		next := now + seen.By
		if seen.To != nil {
			next = *seen.To
		}
		switch {
		case holds && seen.Maybe && next != now:
			return []interface{}{now, next}
		case holds:
			return []interface{}{next}
		case seen.Maybe:
			return []interface{}{now}
		default:
			return nil
		}
	},
	Equal: func(one, other interface{}) bool { return one == other },
}

func main() {
	histories := map[string][]observation{}
	result := verdict{Illegal: []illegal{}, Undecided: []string{}}
	model := object.ToModel()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var seen observation
		if err := json.Unmarshal(lines.Bytes(), &seen); err != nil {
			log.Fatal(err)
		}
		histories[seen.Object] = append(histories[seen.Object], seen)
		result.Observations++
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
	result.Objects = len(histories)
	for name, seen := range histories {
		operations := operationsOf(seen)
		found, info := porcupine.CheckOperationsVerbose(model, operations, perObject)
		switch found {
		case porcupine.Illegal:
			result.Illegal = append(result.Illegal, illegalOf(name, seen, info))
		case porcupine.Unknown:
			result.Undecided = append(result.Undecided, name)
		}
	}
	sort.Strings(result.Undecided)
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		log.Fatal(err)
	}
}

func operationsOf(seen []observation) []porcupine.Operation {
	operations := make([]porcupine.Operation, len(seen))
	for i, one := range seen {
		end := int64(math.MaxInt64)
		if one.Return != nil {
			end = *one.Return
		}
		operations[i] = porcupine.Operation{ClientId: i, Input: one, Call: one.Call, Return: end}
	}
	return operations
}

func illegalOf(name string, seen []observation, info porcupine.LinearizationInfo) illegal {
	found := illegal{Object: name}
	for _, parts := range info.PartialLinearizations() {
		for _, part := range parts {
			found.Ordered = max(found.Ordered, len(part))
		}
	}
	sort.Slice(seen, func(i, j int) bool { return seen[i].Call < seen[j].Call })
	for _, one := range seen {
		found.All = append(found.All, one.Text)
	}
	return found
}
