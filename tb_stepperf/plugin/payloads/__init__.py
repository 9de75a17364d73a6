"""What each route answers: `*_impl` takes a `Source` and a `Query` and returns the JSON of `http_api.md`."""
