#ifndef ENTITLED_CONSOLE_ASSETS_H
#define ENTITLED_CONSOLE_ASSETS_H

/* The files of the console's pages, each one as text that ends with NUL. */
const char *entitled_console_css(void);
const char *entitled_console_js(void);
const char *entitled_console_icon(void);

#endif
