/*
 * Keeps a page fresh without reloading it, and says what a plain form cannot. Every page works without this file.
 */
const main = document.getElementById('main')
const lost = document.getElementById('lost')

/** Makes `now` like `next`, keeping every element that can stay: focus, selection and scrolling are the reader's. */
const morph = (now, next) => {
  if (now.nodeName !== next.nodeName || now.id !== next.id) return now.replaceWith(next)
  if (now.nodeType !== Node.ELEMENT_NODE) {
    if (now.data !== next.data) now.data = next.data
    return
  }
  for (const { name } of [...now.attributes]) if (!next.hasAttribute(name)) now.removeAttribute(name)
  for (const { name, value } of next.attributes) if (now.getAttribute(name) !== value) now.setAttribute(name, value)
  const [old, fresh] = [[...now.childNodes], [...next.childNodes]]
  fresh.forEach((node, index) => {
    if (old[index] === undefined) now.append(node)
    else morph(old[index], node)
  })
  for (const node of old.slice(fresh.length)) node.remove()
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
