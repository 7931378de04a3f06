module example.org/readers

go 1.19
