"""nginx as a proxy in front of the service, with all its files in one folder."""

import getpass

# If root starts nginx, its workers would otherwise run as a user who cannot write bodies into the folder.
SURROUNDINGS = """
daemon off;
user {user};
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
{servers}
}}
"""


def configuration(folder, servers):
    """The configuration with these `server` blocks."""
    return SURROUNDINGS.format(user=getpass.getuser(), folder=folder, servers=servers)
