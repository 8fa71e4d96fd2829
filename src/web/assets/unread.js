// Keeps the number of unread notifications at the top true.
import { onElement } from './elements.js'
import { listen } from './live.js'

const most = 99

onElement('#unread[data-stream]', (count, signal) => {
  listen(
    count.dataset.stream,
    (event) => {
      const { unread } = event?.data ? JSON.parse(event.data) : {}
      if (unread === undefined) return
      count.textContent = unread > most ? `${most}+` : unread
      count.hidden = unread === 0
    },
    { signal },
  )
})
