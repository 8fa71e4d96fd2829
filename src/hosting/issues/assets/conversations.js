// A link to a comment that is not among those shown leads to where it is.
import { onElement } from './elements.js'

onElement('.conversation .posts', () => {
  const [, id] = /^#issuecomment-(\d{1,15})$/.exec(location.hash) ?? []
  if (id && !document.getElementById(location.hash.slice(1)) && !location.search.includes('from=')) {
    location.replace(`${location.pathname}?from=${id}${location.hash}`)
  }
})
