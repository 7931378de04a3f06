package readers

import (
	"os"
	"testing"
)

func TestAdds(t *testing.T) {
	if 1+2 != 3 {
		t.Fatal("1 + 2")
	}
}

func Test_stays(t *testing.T) {}

func TestDivides(t *testing.T) {
	t.Skip("later")
}

func TestTable(t *testing.T) {
	t.Run("works", func(t *testing.T) {})
	t.Run("holds what the work says", func(t *testing.T) {
		if _, err := os.Stat("broken"); err == nil {
			t.Fatal("it is broken")
		}
	})
}
