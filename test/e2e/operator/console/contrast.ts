/**
 * Runs in the page: the contrast of each element's text against what lies behind it, by WCAG 2.2 (success criterion
 * 1.4.3), with translucent layers mixed. Colours are read through a canvas, which understands whatever CSS computes.
 */
export const CONTRAST = `(selectors) => {
  const context = Object.assign(document.createElement('canvas'), { width: 1, height: 1 })
    .getContext('2d', { willReadFrequently: true })
  const rgba = (color) => {
    context.clearRect(0, 0, 1, 1)
    context.fillStyle = color
    context.fillRect(0, 0, 1, 1)
    return [...context.getImageData(0, 0, 1, 1).data]
  }
  const over = ([r, g, b, a], below) => [r, g, b].map((value, index) => (value * a + below[index] * (255 - a)) / 255)
  const behind = (element) => {
    const own = rgba(getComputedStyle(element).backgroundColor)
    if (own[3] === 255 || element.parentElement === null) return own.slice(0, 3)
    return over(own, behind(element.parentElement))
  }
  const luminance = (color) => {
    const [r, g, b] = color.map((value) => value / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  return selectors.flatMap((selector) => [...document.querySelectorAll(selector)].map((element) => {
    const ground = behind(element)
    const [light, dark] = [over(rgba(getComputedStyle(element).color), ground), ground].map(luminance).sort((a, b) => b - a)
    return { selector, ratio: (light + 0.05) / (dark + 0.05) }
  }))
}`
