/*
 * Keeps a page fresh without reloading it, and says what a plain form cannot. Every page works without this file.
 */
const main = document.getElementById('main')
const lost = document.getElementById('lost')

/** Makes `now` like `next`, keeping every element that can stay: focus, selection and scrolling are the reader's. */
const morph = (now, next) => {
  if (now.nodeType !== Node.ELEMENT_NODE) {
    if (now.data !== next.data) now.data = next.data
    return
  }
  for (const { name } of [...now.attributes]) if (!next.hasAttribute(name)) now.removeAttribute(name)
  for (const { name, value } of next.attributes) if (now.getAttribute(name) !== value) now.setAttribute(name, value)
  let at = now.firstChild
  for (const node of [...next.childNodes]) {
    const same = sameOf(now, at, node)
    if (same === null) {
      now.insertBefore(node, at)
      continue
    }
    // What comes before it is gone from the page. An element that were moved instead would lose the focus.
    while (at !== same) at = removed(at)
    at = same.nextSibling
    morph(same, node)
  }
  while (at !== null) at = removed(at)
}

/** What is `node` in the page now: the element of its id, or what comes next if that is of its kind. */
const sameOf = (parent, at, node) => {
  if (node.id) return [...parent.children].find(({ id, nodeName }) => id === node.id && nodeName === node.nodeName) ?? null
  return at !== null && !at.id && at.nodeName === node.nodeName ? at : null
}

const removed = (node) => {
  const next = node.nextSibling
  node.remove()
  return next
}

const refresh = async () => {
  try {
    const response = await fetch(location.href, { headers: { accept: 'text/html' } })
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    const focused = document.activeElement
    morph(main, page.getElementById('main'))
    document.title = page.title
    lost.hidden = true
    // The button that had the focus is gone with what it was for; the keyboard goes on from the top of the page.
    if (focused !== document.activeElement && focused !== document.body) main.focus({ preventScroll: true })
  } catch {
    lost.hidden = false
  }
  later()
}

const later = () => {
  const ms = Number(main.dataset.refreshMs)
  if (ms > 0) setTimeout(() => (document.hidden ? later() : refresh()), ms)
}
later()

for (const input of document.querySelectorAll('input[data-bytes-max]'))
  input.addEventListener('change', () => {
    const tooLarge = [...input.files].some(({ size }) => size > Number(input.dataset.bytesMax))
    input.setCustomValidity(tooLarge ? input.dataset.tooLarge : '')
    input.reportValidity()
  })

// A file takes its time to be read; a second click would only read it again.
document.addEventListener('submit', ({ target, submitter }) => {
  if (target.dataset.busy === undefined || submitter === null) return
  submitter.textContent = target.dataset.busy
  submitter.setAttribute('aria-busy', 'true')
  setTimeout(() => {
    submitter.disabled = true
  })
})
