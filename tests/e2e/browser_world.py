# SPDX-License-Identifier: LGPL-2.1-or-later
"""A headless Chromium beside queryd-http: opens the workbench by a one-time link, and fails on what the browser complains about."""
import os
import shutil
import tempfile

import harness
from http_world import HttpServer

try:
    from selenium import webdriver
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    MISSING = ""
except ImportError:
    MISSING = "python3-selenium is not there"

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
if not MISSING and not (BROWSER and DRIVER):
    MISSING = "chromium or chromedriver is not there"
WINDOW, PHONE = (1100, 800), (390, 844)


class Browser:
    """The browser, with a profile of its own. @rules: names that it resolves in its own way."""

    def __init__(self, folder, rules=""):
        options = webdriver.ChromeOptions()
        options.binary_location = BROWSER
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                         "--disable-background-networking", "--disable-component-update", "--disable-features=Translate",
                         "--force-color-profile=srgb", "--hide-scrollbars", f"--user-data-dir={folder}/profile",
                         f"--window-size={WINDOW[0]},{WINDOW[1]}", f"--host-resolver-rules={rules}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        service = webdriver.chrome.service.Service(DRIVER, env=dict(os.environ, HOME=folder, TMPDIR=folder))
        self.driver = webdriver.Chrome(service=service, options=options)
        self.driver.set_script_timeout(30 * harness.SLOWER)

    def close(self):
        self.driver.quit()

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def find_all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.textContent ?? ''", selector)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, condition, what, seconds=30):
        return harness.wait_until(condition, what, seconds)

    def type(self, *keys):
        """To the element that has the focus."""
        webdriver.ActionChains(self.driver).send_keys(*keys).perform()

    def chord(self, *keys):
        actions = webdriver.ActionChains(self.driver)
        for key in keys[:-1]:
            actions.key_down(key)
        actions.send_keys(keys[-1])
        for key in reversed(keys[:-1]):
            actions.key_up(key)
        actions.perform()

    def set_size(self, width, height):
        """Of what the page sees, with no least width as windows have."""
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})

    def complaints(self):
        """What the console has said since, but for the statuses of requests."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["source"] != "network"]


class Workbench(Browser):
    """The page of a server that asks for a token."""

    def __init__(self, server, folder, rules=""):
        super().__init__(folder, rules)
        self.server = server

    def link(self):
        """A link that works once."""
        answer = self.server.request("POST", "/ticket", Authorization="Bearer " + self.server.token)
        return self.server.url.rstrip("/") + answer.json["path"]

    def open(self, link=None):
        self.driver.get(link or self.server.url)
        self.wait(lambda: self.run("return document.body.dataset.ready"), "the page's start")

    def write(self, text, language="sparql"):
        """Puts @text into the editor as if it were typed at once."""
        self.find(f"#language-{language}").click()
        self.run("const area = document.getElementById('text'); area.focus(); area.select();"
                 "document.execCommand('insertText', false, arguments[0]);", text)

    @property
    def status(self):
        return self.text("#status")

    def is_idle(self):
        return not self.run("return document.body.classList.contains('running')")

    def execute(self, text, language="sparql"):
        """Runs @text to its end; returns what the status line says."""
        self.write(text, language)
        self.chord(Keys.CONTROL, Keys.ENTER)
        self.wait(self.is_idle, "the end of the query")
        return self.status

    def cells(self):
        """The texts of the rows that are in the document."""
        return self.run("return [...document.querySelectorAll('.grid tbody tr')].map(row =>"
                        " [...row.querySelectorAll('td')].map(cell => cell.firstChild ? cell.firstChild.textContent : ''))")

    def show(self, view):
        self.find(f"[data-view={view}]").click()


def make_folder(world):
    return tempfile.mkdtemp(dir=world.folder)
