package site

import (
	"cmp"
	"slices"
	"strconv"
)

// column is the head of a table column, which the template "heads" shows.
type column struct {
	Key   string // part of the key of its text, and the value of the parameter sort
	Class string // the CSS class; "number" for numbers
	URL   string // the address of the table sorted by this column; "" if it cannot be sorted
	Sort  string // "ascending" or "descending"; "" if the table is not sorted by this column
}

// sortColumn is a column of a table with rows of type T.
type sortColumn[T any] struct {
	key        string
	class      string
	descending bool             // the first click sorts in descending order
	compare    func(a, b T) int // nil if the table cannot be sorted by this column
}

// sortRows sorts rows in place. The query parameter "sort" names the column, and "order" the direction. Without
// "sort", it uses the first column that can be sorted. The sort is stable. The result has the heads of the columns.
// Each head links to the address of the page sorted by its column; the link of the current column reverses the order.
func sortRows[T any](v *visit, rows []T, columns []sortColumn[T]) (heads []column) {
	var keys []string
	for _, c := range columns {
		if c.compare != nil {
			keys = append(keys, c.key)
		}
	}
	key := cmp.Or(v.query().Choice("sort", keys...), keys[0])
	by := columns[slices.IndexFunc(columns, func(c sortColumn[T]) bool { return c.key == key })]
	down := by.descending
	if direction := v.query().Choice("order", "asc", "desc"); direction != "" {
		down = direction == "desc"
	}
	slices.SortStableFunc(rows, func(a, b T) int {
		if down {
			return by.compare(b, a)
		}
		return by.compare(a, b)
	})
	for _, c := range columns {
		head := column{Key: c.key, Class: c.class}
		if c.compare != nil {
			next := c.descending
			if c.key == key {
				next = !down
				head.Sort = map[bool]string{true: "descending", false: "ascending"}[down]
			}
			order := map[bool]string{true: "desc", false: "asc"}[next]
			head.URL = addressWith(v.r, "sort", c.key, "order", order)
		}
		heads = append(heads, head)
	}
	return heads
}

// pager describes one page of a list, for the template "pager".
type pager struct {
	Page, Pages       int
	FirstRow, LastRow int // the rows of the page, counted from 1
	Total             int
	Prev, Next        string // the addresses of the pages before and after; "" if there is none
}

// maxPage is the largest page number that a visitor can request.
const maxPage = 100_000

func (v *visit) pageNumber() int { return int(v.query().Number("page", 1, maxPage, 1)) }

// rowsOfPage returns the rows on the page that the query parameter "page" selects, and the pager of that page. size
// is the number of rows on a page. If the parameter is too large, it returns the last page.
func rowsOfPage[T any](v *visit, rows []T, size int) ([]T, pager) {
	p := newPager(v, v.pageNumber(), len(rows), size)
	return rows[(p.Page-1)*size : p.LastRow], p
}

// newPager returns the pager of a page of a list that has total rows, size on each page. If page is too
// large, it describes the last page.
func newPager(v *visit, page, total, size int) pager {
	p := pager{Total: total, Pages: max(1, (total+size-1)/size)}
	p.Page = min(page, p.Pages)
	p.LastRow = min(p.Page*size, total)
	p.FirstRow = min((p.Page-1)*size+1, p.LastRow)
	if p.Page > 1 {
		p.Prev = addressWith(v.r, "page", strconv.Itoa(p.Page-1))
	}
	if p.Page < p.Pages {
		p.Next = addressWith(v.r, "page", strconv.Itoa(p.Page+1))
	}
	return p
}
