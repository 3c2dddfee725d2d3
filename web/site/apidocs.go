package site

import "net/http"

// apidocs shows the documentation of the API.
func (s *Site) apidocs(v *visit) error {
	page, err := s.reference()
	if err != nil {
		return err
	}
	return v.page(http.StatusOK, "apidocs", page)
}
