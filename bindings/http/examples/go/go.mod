module ralph-gate.example/go

go 1.19
