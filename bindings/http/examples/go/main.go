// Command go runs a scripted agent in a loop that ends when the gate says so: go run . [URL]
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"ralph-gate.example/go/gate"
)

// turn is what the agent says, and what its tests then show. A real loop would run both here.
type turn struct {
	output, outcome, reason string
}

var turns = []turn{
	{"All done.\n<promise>COMPLETE</promise>", "fail", "2 of 14 failed"},
	{"I fixed the two tests.", "pass", ""},
	{"Everything is green.\n<promise>COMPLETE</promise>", "pass", ""},
}

func main() {
	url := "http://127.0.0.1:8080"
	if len(os.Args) > 1 {
		url = os.Args[1]
	}
	if err := loop(&gate.Client{URL: url}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func loop(client *gate.Client) error {
	contract := map[string]any{
		"mode":              "ralph",
		"completion_token":  "COMPLETE",
		"completion_checks": []string{"tests_green"},
		"loop_max_iters":    5,
	}
	var snapshot *string
	for index := 1; ; index++ {
		// A script that is at its end says the same again, until the gate ends the loop.
		now := turns[min(index, len(turns))-1]
		iteration := gate.Iteration{
			Index:  index,
			Action: "final",
			Output: now.output,
			Checks: []gate.Check{{ID: "tests_green", Outcome: now.outcome, Reason: now.reason}},
		}
		verdict, err := ask(client, contract, snapshot, iteration)
		if err != nil {
			return err
		}
		if verdict.Decision != "continue" {
			reason := "none"
			if verdict.StopReason != nil {
				reason = *verdict.StopReason
			}
			fmt.Printf("iteration %d: %s, %s\n", index, verdict.Decision, reason)
			return nil
		}
		fmt.Printf("iteration %d: go on\n%s\n", index, verdict.Feedback)
		snapshot = verdict.Snapshot
	}
}

func ask(client *gate.Client, contract any, snapshot *string, iteration gate.Iteration) (gate.Verdict, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return client.Evaluate(ctx, contract, snapshot, iteration)
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}
