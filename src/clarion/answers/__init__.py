"""Questions that runs ask, and their answers: by signed links with a page, in the inbox, and by the API."""
